import React, { useState } from "react";
import { Button } from "./button";

export function Counter({ start }) {
  const [count, setCount] = useState(start);
  return <Button onClick={() => setCount(count + 1)}>{count}</Button>;
}

export const Panel = React.memo(({ children }) => <section>{children}</section>);

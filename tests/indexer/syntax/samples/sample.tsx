import { useQuery } from "./query";

interface Props {
  id: string;
}

export const Profile = ({ id }: Props): JSX.Element => {
  const user = useQuery(id);
  return <Avatar name={user.name} />;
};

export default function Page(): JSX.Element {
  return <Profile id="1" />;
}

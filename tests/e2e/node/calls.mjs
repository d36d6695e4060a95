// What every script here does: connect, list the tools, make the calls given on standard input in
// order on that one connection, and print what came back as one JSON object.
import { readFileSync } from "node:fs";

export async function report(client, transport, protocol) {
  const calls = JSON.parse(readFileSync(0, "utf8"));
  await client.connect(transport);
  const tools = (await client.listTools()).tools.map((tool) => tool.name);
  const answers = [];
  for (const { name, arguments: given } of calls) {
    answers.push(await client.callTool({ name, arguments: given }));
  }
  console.log(JSON.stringify({ protocol: protocol(), tools, answers }));
  await client.close();
}

// The TypeScript client 2.x: node client2.mjs http|sse URL legacy|auto
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { report } from "./calls.mjs";

const [kind, url, mode] = process.argv.slice(2);
const Transport = kind === "sse" ? SSEClientTransport : StreamableHTTPClientTransport;
const client = new Client({ name: "ctx-tests", version: "1" }, { versionNegotiation: { mode } });
await report(client, new Transport(new URL(url)), () => client.getNegotiatedProtocolVersion());

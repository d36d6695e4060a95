// The TypeScript SDK 1.x: node sdk1.mjs http|sse URL
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { report } from "./calls.mjs";

const [kind, url] = process.argv.slice(2);
const Transport = kind === "sse" ? SSEClientTransport : StreamableHTTPClientTransport;
const transport = new Transport(new URL(url));
const client = new Client({ name: "ctx-tests", version: "1" });
await report(client, transport, () => transport._protocolVersion);

// The client of the protocol's own SDK for Node: calls tools of a server in turn, and prints what came back.
// Arguments: JSON of {command, args, env} or {url, headers}, and of a list of [tool, arguments]; "$N" in a text stands
// for the first number in the Nth answer.
"use strict";
const { createRequire } = require("node:module");
const path = require("node:path");
const sdk = createRequire(path.resolve(process.env.MCP_REFERENCE_SERVERS, "x.js"));
const { Client } = sdk("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = sdk("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = sdk("@modelcontextprotocol/sdk/client/streamableHttp.js");

async function main() {
  const [target, calls] = process.argv.slice(2, 4).map((text) => JSON.parse(text));
  const transport = target.url
    ? new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers: target.headers } })
    : new StdioClientTransport({ ...target, env: { ...process.env, ...target.env } });
  const client = new Client({ name: "node", version: "1" });
  await client.connect(transport);
  const told = [(await client.listTools()).tools.map((tool) => tool.name).join(" ")];
  for (const [name, given] of calls) {
    const filled = Object.entries(given).map(([key, value]) => [
      key,
      /^\$\d$/.test(value) ? Number(/\d+/.exec(told[value.slice(1)])[0]) : value,
    ]);
    const result = await client.callTool({ name, arguments: Object.fromEntries(filled) });
    told.push((result.isError ? "Refused: " : "") + result.content[0].text);
  }
  console.log(JSON.stringify(told));
  await client.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});

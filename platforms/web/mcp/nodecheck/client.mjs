// A client of /mcp on the official TypeScript SDK, in its first or second generation. It does what an agent with a person at
// hand does, and tells what it saw as one JSON object.
const { ADDRESS, KEY, GENERATION, VERSION } = process.env;

// open gives a client that speaks VERSION. answers are what its person says to the questions of the server, one by one;
// without any the client can't ask.
async function open(key, answers) {
  const capabilities = answers ? { elicitation: { form: {} } } : {};
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  const asked = [];
  const ask = async (request) => {
    asked.push(request.params.message);
    return { action: answers.shift(), content: {} };
  };
  const who = { name: "signalbox-nodecheck", version: "1" };
  let client, transport;
  if (GENERATION === "1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
    client = new Client(who, { capabilities });
    if (answers) client.setRequestHandler(ElicitRequestSchema, ask);
    transport = new StreamableHTTPClientTransport(new URL(ADDRESS), { requestInit: { headers } });
  } else {
    const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const speaks = VERSION >= "2026" ? { versionNegotiation: { mode: { pin: VERSION } } } : { supportedProtocolVersions: [VERSION] };
    client = new Client(who, { capabilities, ...speaks });
    if (answers) client.setRequestHandler("elicitation/create", ask);
    transport = new StreamableHTTPClientTransport(new URL(ADDRESS), { requestInit: { headers } });
  }
  await client.connect(transport);
  const version = GENERATION === "1" ? transport.protocolVersion : client.getNegotiatedProtocolVersion();
  return { client, asked, version };
}

const words = (result) => ({
  isError: result.isError ?? false,
  text: result.content.filter((c) => c.type === "text").map((c) => c.text).join("\n"),
  links: result.content.filter((c) => c.type === "resource_link").map((c) => c.uri),
  structured: result.structuredContent ?? null,
});

// failure gives what an attempt that must fail said.
const failure = async (attempt) => {
  try {
    await attempt();
  } catch (error) {
    return String(error?.message ?? error);
  }
  return "";
};

const seen = {};
const { client, asked, version } = await open(KEY, ["decline", "accept"]);
seen.version = version;
seen.server = client.getServerVersion()?.name ?? "";
seen.tools = (await client.listTools()).tools.map((t) => ({ name: t.name, description: t.description, readOnly: t.annotations?.readOnlyHint ?? false, required: t.inputSchema.required ?? [] }));
seen.free = words(await client.callTool({ name: "free.story", arguments: { prompt: "a pier" } }));
seen.product = words(await client.callTool({ name: "product", arguments: { prompt: '{"sku": "A-1"}' } }));
seen.products = words(await client.callTool({ name: "products", arguments: { prompt: '["A-1"]' } }));
seen.odd = words(await client.callTool({ name: "product", arguments: { prompt: '{"id": 5}' } }));
seen.wrong = words(await client.callTool({ name: "free.story", arguments: { prompt: 5 } }));
seen.unknown = await failure(() => client.callTool({ name: "nothing", arguments: {} }));
seen.declined = words(await client.callTool({ name: "paid-picture", arguments: { prompt: "a pier" } }));
seen.paid = words(await client.callTool({ name: "paid-picture", arguments: { prompt: "a pier" } }));
seen.asked = asked;
await client.close();

const mute = await open(KEY);
seen.mute = words(await mute.client.callTool({ name: "paid-story", arguments: { prompt: "a pier" } }));
await mute.client.close();

seen.keyless = await failure(() => open("", ["accept"]));
seen.stranger = await failure(() => open("sbx_wrong", ["accept"]));
process.stdout.write(JSON.stringify(seen));

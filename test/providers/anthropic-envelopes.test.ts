// Claude wherever it is hosted: the settings of each host, and the resulting call, byte by byte where it matters.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, loadConfig } from "../../src/config/config.ts";
import { shownSettings } from "../../src/config/shown-settings.ts";
import {
  EMAIL,
  keyText,
  startTokenServer,
  tokenReply,
} from "../../src/providers/credentials/credentials.fixtures.ts";
import {
  callDraft,
  chatRequest,
  type Got,
  httpReply,
  providerCall,
  startUpstream,
} from "../../src/providers/openai/openai.fixtures.ts";
import type { CallDraft, Provider } from "../../src/providers/provider.ts";
import { printedText } from "../../src/providers/printed-text.fixtures.ts";

const directory = mkdtempSync(join(tmpdir(), "tollgate-envelopes-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function configured(own: string): Config {
  const file = join(directory, "tollgate.yaml");
  writeFileSync(file, `providers:\n  - { name: claude, kind: anthropic, ${own} }\n`);
  return loadConfig({ env: {}, cwd: directory, flags: { config: file } });
}

async function providerOf(own: string): Promise<Provider> {
  const [only] = configured(own).providers;
  if (only === undefined) throw new Error("no provider");
  const { kind, name, baseUrl, timeouts, own: settings } = only;
  if (baseUrl === null) throw new Error("no address");
  return await kind.create({ name, baseUrl, timeouts, probePath: null }, settings);
}

const ANSWER = JSON.stringify({
  id: "msg_1",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
});

/** The one call that a provider with these settings makes, to an upstream that stands in for the host. */
async function called(
  own: string,
  path: string,
  upstreamModel = "claude-opus-4-8",
  request = chatRequest(),
): Promise<Got> {
  await using upstream = await startUpstream(({ socket }) => socket.write(httpReply(200, ANSWER)));
  const provider = await providerOf(`base_url: "${upstream.url}${path}", ${own}`);
  const release = { ...callDraft().release, upstreamModel };
  const body = provider.prepare(callDraft({ request, release }));
  await provider.complete({ ...providerCall({ request, release }), body });
  const [got] = upstream.got;
  if (got === undefined || upstream.got.length > 1) throw new Error("not one call");
  return got;
}

const bodyOf = ({ body }: Got): Record<string, unknown> => JSON.parse(body) as Record<string, unknown>;

test("at Anthropic: the key and the version in headers", async () => {
  const got = await called("api_key: sk-ant-1", "");
  expect(got.head).toStartWith("POST /v1/messages HTTP/1.1");
  expect(got.head).toContain("x-api-key: sk-ant-1");
  expect(got.head).toContain("anthropic-version: 2023-06-01");
  expect(got.head).not.toContain("anthropic-beta");
  expect(bodyOf(got)).toMatchObject({ model: "claude-opus-4-8", max_tokens: 64 });
});

test("a model that binds its thinking to the conversation is told to drop what does not fit, at Anthropic only", async () => {
  const got = await called("api_key: sk-ant-1", "", "claude-opus-5-5");
  expect(got.head).toContain("anthropic-beta: thinking-binding-controls-2026-08-01");
  expect(got.body).toContain('"block_binding"');
  const cloud = await called("envelope: foundry, api_key: k", "", "claude-opus-5-5");
  expect(cloud.head).not.toContain("anthropic-beta");
  expect(cloud.body).not.toContain("block_binding");
});

test("at Microsoft: the key in the header that it knows", async () => {
  const got = await called("envelope: foundry, api_key: azure-key", "/anthropic");
  expect(got.head).toStartWith("POST /v1/anthropic/messages HTTP/1.1");
  expect(got.head).toContain("api-key: azure-key");
  expect(got.head).not.toContain("x-api-key");
  expect(got.head).toContain("anthropic-version: 2023-06-01");
});

test("a prompt is counted at Anthropic and at Microsoft, beside their messages; a count that does not arrive in time is abandoned", async () => {
  const native = { shape: "anthropic-messages" as const, headers: {}, only: null };
  const request = chatRequest({
    native: { ...native, body: { messages: [{ role: "user", content: "Hi" }] } },
  });
  const counted = async (own: string, reply: string | null, withinMs = 2000) => {
    await using upstream = await startUpstream(({ socket }) => reply !== null && socket.write(reply));
    const provider = await providerOf(`base_url: "${upstream.url}", ${own}`);
    const release = { ...callDraft().release, upstreamModel: "claude-opus-4-8" };
    const body = provider.prepare(callDraft({ request, release }));
    const { signal } = new AbortController();
    const call = { requestId: "req_1", upstreamModel: "claude-opus-4-8", body, signal, withinMs };
    const tokens = await provider.countTokens?.(call).catch((error: unknown) => error);
    return { tokens, path: upstream.got[0]?.head.split(" ")[1] };
  };
  const path = "/v1/messages/count_tokens";
  const said = httpReply(200, `{"input_tokens":7}`);
  expect(await counted("api_key: k", said)).toEqual({ tokens: 7, path });
  expect(await counted("envelope: foundry, api_key: k", said)).toEqual({ tokens: 7, path });
  const bedrock = "envelope: bedrock, region: eu-west-1, api_key: ABSK1";
  expect(await counted(bedrock, said)).toEqual({ tokens: undefined, path: undefined });
  const silent = await counted("api_key: k", null, 50);
  expect(silent.tokens).toMatchObject({ name: "Failure", reason: "timeout" });
});

test("at AWS: the key as bearer, or a signature for this region and this service", async () => {
  const bearer = await called("envelope: bedrock, region: eu-west-1, api_key: ABSK1", "");
  expect(bearer.head).toContain("Authorization: Bearer ABSK1");
  const keys = "access_key_id: AKIAIOSFODNN7EXAMPLE, secret_access_key: secret";
  const signed = await called(`envelope: bedrock, region: eu-west-1, ${keys}`, "");
  expect(signed.head).toMatch(
    /Authorization: AWS4-HMAC-SHA256 Credential=AKIA\w+\/\d{8}\/eu-west-1\/bedrock-mantle\/aws4_request/,
  );
  expect(bodyOf(signed)).toMatchObject({ model: "claude-opus-4-8" });
});

test("at Google: project, location and model in the path, the version in the body, a fetched token as proof", async () => {
  await using tokens = startTokenServer(() => tokenReply("token-1"));
  const file = join(directory, "account.json");
  writeFileSync(file, keyText({ token_uri: tokens.url }));
  const got = await called(
    `envelope: vertex, location: europe-west1, service_account: ${file}`,
    "",
    "claude-haiku-4-5@20251001",
  );
  const path =
    "/v1/projects/project-7/locations/europe-west1/publishers/anthropic/models/claude-haiku-4-5@20251001:rawPredict";
  expect(got.head).toStartWith(`POST ${path} HTTP/1.1`);
  expect(got.head).toContain("Authorization: Bearer token-1");
  expect(got.head).not.toContain("anthropic-version");
  expect(bodyOf(got)).toMatchObject({ anthropic_version: "vertex-2023-10-16", max_tokens: 64 });
  expect(bodyOf(got)).not.toHaveProperty("model");
  const other = await called(`envelope: vertex, project: other-project, service_account: ${file}`, "");
  expect(other.head).toContain("/v1/projects/other-project/locations/global/");
});

test.each([
  ["direct", "api_key: k", "", "/v1/messages"],
  ["foundry", "envelope: foundry, api_key: k", "/anthropic", "/v1/anthropic/messages"],
  ["bedrock", "envelope: bedrock, region: eu-west-1, api_key: k", "", "/v1/messages"],
])("a caller's own body goes through the envelope %s, its betas in the header", async (_, own, path, at) => {
  const body = { later: [1], model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
  const headers = { "anthropic-beta": "context-1m-2025-08-07,context-management-2025-06-27" };
  const native = { shape: "anthropic-messages", body, headers, only: null } as const;
  const got = await called(own, path, "claude-opus-4-8", chatRequest({ native }));
  expect(got.head).toStartWith(`POST ${at} HTTP/1.1`);
  expect(got.head).toContain("anthropic-beta: context-management-2025-06-27\r\n");
  expect(got.body).toBe(
    `{"later":[1],"model":"claude-opus-4-8","messages":[{"role":"user","content":"Hi"}],"max_tokens":64}`,
  );
});

test("the abilities of a deployment's models are configured if its name does not give them", async () => {
  const own =
    "envelope: foundry, api_key: k, models: { thinking: budget, thinking_off: disabled, sampling: both, forced_tools: false }";
  const provider = await providerOf(`base_url: "https://r.services.ai.azure.com/anthropic/v1", ${own}`);
  const release = { ...callDraft().release, upstreamModel: "ours" };
  const sent = (change: Partial<CallDraft>): Record<string, unknown> =>
    JSON.parse(printedText(provider.prepare(callDraft({ release, ...change })), 4096)) as Record<
      string,
      unknown
    >;
  expect(sent({ reasoningEffort: "low" })["thinking"]).toEqual({ type: "enabled", budget_tokens: 1024 });
  expect(sent({ reasoningEffort: "none" })["thinking"]).toEqual({ type: "disabled" });
  expect(sent({ temperature: 0.5 })["temperature"]).toBe(0.5);
  const tools = [{ type: "function" as const, function: { name: "clock" } }];
  expect(() => sent({ request: chatRequest({ tools, toolChoice: "required" }) })).toThrow(
    "cannot force a tool call",
  );
});

test("each host has its own address, if there is one for all", () => {
  const file = join(directory, "home.json");
  writeFileSync(file, keyText());
  const at = (own: string): string | null | undefined => configured(own).providers[0]?.baseUrl;
  expect(at("api_key: sk-ant-1")).toBe("https://api.anthropic.com/v1");
  expect(at("envelope: bedrock, region: us-east-1, api_key: ABSK1")).toBe(
    "https://bedrock-mantle.us-east-1.api.aws/anthropic/v1",
  );
  expect(at(`envelope: vertex, service_account: ${file}`)).toBe("https://aiplatform.googleapis.com/v1");
  expect(at(`envelope: vertex, location: us-east5, service_account: ${file}`)).toBe(
    "https://us-east5-aiplatform.googleapis.com/v1",
  );
  expect(at(`envelope: vertex, location: eu, service_account: ${file}`)).toBe(
    "https://aiplatform.eu.rep.googleapis.com/v1",
  );
});

const FOUNDRY = "https://r.services.ai.azure.com/anthropic/v1";

test.each([
  ["envelope: direct", "api_key", "is required"],
  ["api_key: gsk_1", "api_key", "looks like a key of Groq"],
  ["api_key: sk-ant-1, region: us-east-1", "region", "envelope: bedrock"],
  [
    "api_key: sk-ant-1, base_url: 'https://api.anthropic.com'",
    "base_url",
    "must look like https://api.anthropic.com/v1",
  ],
  ["envelope: anywhere", "envelope", "must be one of direct, foundry, vertex, bedrock"],
  ["envelope: foundry, api_key: k", "base_url", `e.g. ${FOUNDRY.replace("r.", "my-resource.")}`],
  [
    `envelope: foundry, api_key: sk-ant-1, base_url: '${FOUNDRY}'`,
    "api_key",
    "looks like a key of Anthropic",
  ],
  [`envelope: foundry, api_key: k, base_url: '${FOUNDRY}/messages'`, "base_url", "must look like"],
  ["envelope: bedrock, api_key: ABSK1", "region", "is required"],
  ["envelope: bedrock, region: us-east-1", "api_key", "is required, or access_key_id"],
  [
    "envelope: bedrock, region: us-east-1, access_key_id: AKIAIOSFODNN7EXAMPLE",
    "secret_access_key",
    "is required",
  ],
  ["envelope: bedrock, region: moon, api_key: ABSK1", "region", "must be an AWS region"],
  ["envelope: vertex", "project", "is required"],
  ["envelope: vertex, project: p-1", "service_account", "is required"],
  [
    "envelope: vertex, project: p-1, location: 'moon/1', service_account: /nowhere.json",
    "location",
    "must be a Google Cloud location",
  ],
  ["envelope: vertex, project: p-1, api_key: k, service_account: /nowhere.json", "service_account", ""],
  ["api_key: sk-ant-1, models: { thinking: hard }", "models.thinking", "must be one of adaptive, budget"],
  ["api_key: sk-ant-1, modles: {}", "modles", "there is no such setting"],
])("%s stops the start at %s: %s", (own, path, message) => {
  expect(() => configured(own)).toThrow(`providers[0].${path}`);
  expect(() => configured(own)).toThrow(message);
});

test("settings that others see contain no secret", () => {
  const shown = (own: string): string => JSON.stringify(shownSettings(configured(own)));
  const keys = "access_key_id: AKIAIOSFODNN7EXAMPLE, secret_access_key: hidden-1, session_token: hidden-2";
  const aws = shown(`envelope: bedrock, region: us-east-1, ${keys}, models: { sampling: none }`);
  expect(aws).toContain('"envelope":"bedrock","region":"us-east-1"');
  expect(aws).toContain('"sampling":"none"');
  expect(aws).not.toContain("hidden");
  const file = join(directory, "shown.json");
  writeFileSync(file, keyText());
  expect(shown(`envelope: vertex, service_account: ${file}`)).not.toContain(EMAIL);
});

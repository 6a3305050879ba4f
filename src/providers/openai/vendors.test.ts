// The peculiarities of single vendors of the chat-completions shape, tested with the provider of their kind.
import { expect, test } from "bun:test";
import { z } from "zod";
import { startTokenServer, tokenReply } from "../credentials/credentials.fixtures.ts";
import type { Provider } from "../provider.ts";
import {
  collect,
  DONE,
  event,
  failureOf,
  httpReply,
  providerCall,
  startUpstream,
  STREAM_HEAD,
  streamCall,
} from "./openai.fixtures.ts";
import { FAR } from "../http/http.fixtures.ts";
import { VENDORS } from "./vendors.ts";

/** Returns a provider of a kind, made from its settings. */
async function providerOf(kindName: string, baseUrl: string, settings: object): Promise<Provider> {
  const kind = VENDORS.find(({ name }) => name === kindName);
  if (kind === undefined) throw new Error(`no kind ${kindName}`);
  const own = z.strictObject(kind.settings).parse(settings);
  return await kind.create({ name: "acme", baseUrl, timeouts: FAR, probePath: kind.probePath }, own);
}

const WHOLE = JSON.stringify({ choices: [{ message: { content: "ok" }, finish_reason: "stop" }] });

const headerOf = (head: string, name: string): string | null =>
  new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim() ?? null;

test("Azure takes the key in its own header", async () => {
  await using upstream = await startUpstream(({ socket }) => socket.write(httpReply(200, WHOLE)));
  await (await providerOf("azure", upstream.url, { api_key: "key-of-azure" })).complete(providerCall());
  const head = upstream.got[0]?.head ?? "";
  expect([headerOf(head, "api-key"), headerOf(head, "authorization")]).toEqual(["key-of-azure", null]);
});

test("an application of Entra: one token for calls that wait together, in no record of ours", async () => {
  await using server = startTokenServer(() => tokenReply("token-of-entra-1"));
  await using upstream = await startUpstream(({ socket }) =>
    socket.write(httpReply(403, JSON.stringify({ error: { message: "no role for token-of-entra-1" } }))),
  );
  const authority = server.url.replace("/token", "");
  const entra = { tenant: "t-1", client_id: "c-1", client_secret: "s3cret-1", authority };
  const provider = await providerOf("azure", upstream.url, { entra });
  const failures = await Promise.all([1, 2, 3].map(() => failureOf(provider.complete(providerCall()))));
  expect(failures.map(({ reason }) => reason)).toEqual(["account", "account", "account"]);
  expect(failures[0]?.upstream.words).toBe("no role for [key]");
  expect(headerOf(upstream.got[0]?.head ?? "", "authorization")).toBe("Bearer token-of-entra-1");
  expect(server.asked.map((form) => Object.fromEntries(form))).toEqual([
    {
      grant_type: "client_credentials",
      client_id: "c-1",
      client_secret: "s3cret-1",
      scope: "https://cognitiveservices.azure.com/.default",
    },
  ]);
});

test.each([
  [401, "account"],
  [429, "rate_limited"],
  [503, "unavailable"],
] as const)("an application without a token (%d) proves that nothing was sent", async (status, reason) => {
  await using server = startTokenServer(() =>
    Response.json({ error: "invalid_client", error_description: "AADSTS7: s3cret-1 has ended" }, { status }),
  );
  await using upstream = await startUpstream(() => {});
  const authority = server.url.replace("/token", "");
  const entra = { tenant: "t-1", client_id: "c-1", client_secret: "s3cret-1", authority };
  const failure = await failureOf(
    (await providerOf("azure", upstream.url, { entra })).complete(providerCall()),
  );
  expect([failure.executed, failure.reason]).toEqual(["no", reason]);
  expect(failure.upstream.words).toBe("invalid_client: AADSTS7: [key] has ended");
  expect(upstream.got).toEqual([]);
});

test("Bedrock: each call is signed over what goes out, the session's token beside it", async () => {
  await using upstream = await startUpstream(({ socket }) => socket.write(httpReply(200, WHOLE)));
  const provider = await providerOf("bedrock-openai", upstream.url, {
    region: "eu-central-1",
    access_key_id: "ASIAEXAMPLE123456",
    secret_access_key: "secret",
    session_token: "session-1",
  });
  await provider.complete(providerCall());
  const head = upstream.got[0]?.head ?? "";
  expect(headerOf(head, "authorization")).toMatch(
    /^AWS4-HMAC-SHA256 Credential=ASIAEXAMPLE123456\/\d{8}\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
  );
  expect(headerOf(head, "x-amz-security-token")).toBe("session-1");
});

/** Google's layer: no index, arguments in deltas without one, `stop` after calls, signatures beside nothing. */
const GEMINI = [
  { choices: [{ delta: { role: "assistant", content: "Let me " } }] },
  { choices: [{ delta: { content: "look." } }] },
  {
    choices: [
      {
        delta: {
          tool_calls: [
            {
              id: "function-call-1",
              type: "function",
              function: { name: "weather", arguments: '{"city":' },
              extra_content: { google: { thought_signature: "sig-1" } },
            },
          ],
        },
      },
    ],
  },
  { choices: [{ delta: { tool_calls: [{ function: { arguments: '"Bern"}' } }] } }] },
  { choices: [{ delta: { tool_calls: [{ id: "", function: { name: "time", arguments: "{}" } }] } }] },
  { choices: [{ delta: { extra_content: { google: { thought_signature: "sig-2" } } } }] },
  { choices: [{ delta: { role: "assistant" }, finish_reason: "stop" }] },
  { choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 30 } },
];

test("Gemini's layer: index-less chunks make two whole calls that end in tool_calls, and nothing is lost", async () => {
  await using upstream = await startUpstream(({ socket }) =>
    socket.end(STREAM_HEAD + GEMINI.map(event).join("") + DONE),
  );
  const { parts, failure } = await collect(
    await providerOf("gemini-openai", upstream.url, { api_key: "k" }),
    streamCall(),
  );
  expect(failure).toBeNull();
  expect(parts).toMatchObject([
    { type: "text", choice: 0, text: "Let me " },
    { type: "text", choice: 0, text: "look." },
    {
      type: "tool_call",
      index: 0,
      id: "function-call-1",
      name: "weather",
      extraContent: { acme: { google: { thought_signature: "sig-1" } } },
    },
    { type: "tool_arguments", index: 0, text: '{"city":' },
    { type: "tool_arguments", index: 0, text: '"Bern"}' },
    { type: "tool_call", index: 1, name: "time" },
    { type: "tool_arguments", index: 1, text: "{}" },
    { type: "usage", usage: { promptTokens: 9, completionTokens: 21 } }, // the total includes the thoughts
    { type: "finish", choice: 0, reason: "tool_calls" },
  ]);
});

test("Gemini's layer, whole: two choices without an index are two", async () => {
  const choices = ["one", "two"].map((content) => ({ message: { content }, finish_reason: "stop" }));
  await using upstream = await startUpstream(({ socket }) =>
    socket.write(httpReply(200, JSON.stringify({ choices }))),
  );
  const call = providerCall();
  const answer = await (await providerOf("gemini-openai", upstream.url, { api_key: "k" })).complete({
    ...call,
    request: { ...call.request, n: 2 },
  });
  expect(answer.choices.map(({ content }) => content)).toEqual(["one", "two"]);
});

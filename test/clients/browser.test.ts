// SDKs on a page of another origin: a browser first asks permission for each header that they set, `user-agent`
// included (Firefox, Safari), and one disallowed name fails the call before it is sent (wire.md §6).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, type LanguageModel } from "ai";
import OpenAI7 from "openai";
import OpenAI6 from "openai-6";
import type { Customer, TestGateway } from "../support/gateway.ts";
import { PAGE, preflight, startForPage } from "../support/page.ts";

/** What a browser never asks permission for. */
const SAFE = new Set(["accept", "accept-language", "content-language"]);

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startForPage();
  customer = await gateway.customer({ usd: "50" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

/** Like a browser: sends a preflight, and then only what was allowed. */
const fetchInPage: typeof fetch = Object.assign(
  async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = input instanceof Request ? new Request(input, init) : new Request(String(input), init);
    const wanted = [...request.headers.keys()].filter((name) => !SAFE.has(name)).toSorted();
    const answered = await preflight(request.url, { method: request.method, headers: wanted });
    const allowed = (answered.headers.get("access-control-allow-headers") ?? "").split(/, */);
    const missing = wanted.filter((name) => !allowed.includes(name));
    if (missing.length > 0) throw new Error(`the browser blocks ${missing.join(", ")}`);
    request.headers.set("origin", PAGE);
    const response = await fetch(request);
    if (response.headers.get("access-control-allow-origin") !== PAGE)
      throw new Error("the browser hides the answer");
    return response;
  },
  { preconnect: fetch.preconnect },
);

const ASKED = { model: "plain-1", messages: [{ role: "user" as const, content: "Say hello" }] };

test.each([
  ["openai 7", OpenAI7 as unknown as typeof OpenAI7],
  ["openai 6", OpenAI6 as unknown as typeof OpenAI7],
])("%s, with an organization and a project set", async (_, OpenAI) => {
  const client = new OpenAI({
    apiKey: customer.secret,
    baseURL: gateway.baseUrl,
    organization: "org-1",
    project: "proj-1",
    dangerouslyAllowBrowser: true,
    fetch: fetchInPage,
    maxRetries: 0,
    timeout: 60_000,
  });
  const key = { "Idempotency-Key": crypto.randomUUID() };
  expect((await client.chat.completions.create(ASKED, { headers: key })).choices).toHaveLength(1);
  const stream = client.chat.completions.stream(ASKED);
  expect((await stream.finalChatCompletion()).choices).toHaveLength(1);
  expect((await client.responses.create({ model: "plain-1", input: "Say hello" })).status).toBe("completed");
  expect((await client.models.list()).data.length).toBeGreaterThan(0);
});

test.each<[string, () => LanguageModel]>([
  [
    "openai-compatible",
    () =>
      createOpenAICompatible({
        name: "gateway",
        apiKey: customer.secret,
        baseURL: gateway.baseUrl,
        fetch: fetchInPage,
      })("plain-1"),
  ],
  [
    "anthropic",
    () =>
      createAnthropic({ apiKey: customer.secret, baseURL: gateway.baseUrl, fetch: fetchInPage })("plain-1"),
  ],
])("the AI SDK with its provider %s", async (_, model) => {
  const { text } = await generateText({ model: model(), prompt: "Say hello", maxRetries: 0 });
  expect(text).toMatch(/\w/);
});

test("LangChain", async () => {
  const chat = new ChatOpenAI({
    apiKey: customer.secret,
    model: "plain-1",
    maxRetries: 0,
    configuration: { baseURL: gateway.baseUrl, fetch: fetchInPage, dangerouslyAllowBrowser: true },
  });
  expect((await chat.invoke("Say hello")).content).toMatch(/\w/);
});

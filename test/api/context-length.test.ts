// A conversation that is too long is refused with the wording that makes each surface's clients shorten it
// themselves, whether our own count or the provider found it so. Nothing is held afterwards, and nothing charged
// (wire.md §4.1, §8.3; surfaces.md §2).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN, type TestManifest } from "../support/models.ts";
import { readResponseStream } from "../support/response-schema.ts";

const NARROW: TestManifest = { ...PLAIN, model: "narrow-1", context_window: 2_000, max_output_tokens: 1_500 };

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ models: [NARROW] });
  customer = await gateway.customer({ usd: "10" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

interface Refused {
  error: { code: string; message: string; param: string; details?: Record<string, number> };
}
const SURFACES = ["/v1/chat/completions", "/v1/messages", "/v1/responses"] as const;
type Surface = (typeof SURFACES)[number];

async function ask(
  path: Surface,
  text: string,
  also: { most: number; stream?: boolean },
): Promise<Refused["error"]> {
  const { most, stream = false } = also;
  const body =
    path === "/v1/responses"
      ? { input: text, max_output_tokens: most, store: false }
      : { messages: [{ role: "user", content: text }], max_tokens: most };
  const before = await gateway.balance(customer);
  const reply = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${customer.secret}` },
    body: JSON.stringify({ model: "narrow-1", stream, ...body }),
  });
  const { error } = (await reply.json()) as Refused;
  expect([reply.status, error.code]).toEqual([400, "context_length_exceeded"]);
  expect(reply.headers.get("x-should-retry")).toBe("false");
  expect(await gateway.balance(customer)).toEqual(before);
  return error;
}

const LONG = "one two three four five six seven eight nine ten ".repeat(300);

test.each(SURFACES)("a prompt that is too long by itself: %s", async (path) => {
  const { message, details } = await ask(path, LONG, { most: 10 });
  const prompt = details?.["prompt_tokens"] ?? 0;
  expect(prompt).toBeGreaterThan(2_000);
  expect(details).toMatchObject({ context_window: 2_000, max_tokens: 10 });
  if (path === "/v1/messages")
    expect(message).toStartWith(`prompt is too long: ${prompt} tokens > 2000 maximum`);
  else
    expect(message).toStartWith(
      "This model's maximum context length is 2000 tokens. However, you requested ",
    );
});

test.each(SURFACES)("a prompt that leaves no room for its maximum: %s", async (path) => {
  const { message, details } = await ask(path, "Hi", { most: 1_999 });
  const prompt = details?.["prompt_tokens"] ?? 0;
  if (path === "/v1/messages")
    expect(message).toBe(
      `input length and \`max_tokens\` exceed context limit: ${prompt} + 1999 > 2000, decrease input length or \`max_tokens\` and try again`,
    );
  else expect(message).toContain(`${prompt} in the ${path === "/v1/responses" ? "input" : "messages"}`);
});

/** As Codex identifies each of its programs. */
const CODEX = { originator: "codex_exec" };

test.each([
  ["our own count", LONG, null],
  ["the provider's", "Hi", "Your input exceeds the context window of this model."],
])("Codex is told inside a stream, where it recognizes it: %s", async (_, input, theirs) => {
  if (theirs !== null)
    gateway.simulator.behave({ behaviour: { status: 400, error_message: theirs }, calls: 1 });
  const before = await gateway.balance(customer);
  const post = (headers: object, body: object): Promise<Response> =>
    fetch(`${gateway.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${customer.secret}`, ...headers },
      body: JSON.stringify({ model: "narrow-1", input, stream: true, store: false, ...body }),
    });
  const reply = await post(CODEX, {});
  expect([reply.status, reply.headers.get("content-type")]).toEqual([
    200,
    "text/event-stream; charset=utf-8",
  ]);
  const { events, final } = readResponseStream(await reply.text());
  expect(events.map(({ type }) => type)).toEqual([
    "response.created",
    "response.in_progress",
    "response.failed",
  ]);
  expect(final).toMatchObject({
    status: "failed",
    error: { code: "context_length_exceeded" },
    model: "narrow-1",
  });
  expect(final.gateway).toMatchObject({ request_id: reply.headers.get("x-request-id") });
  expect(await gateway.balance(customer)).toEqual(before);
  // Other refusals are errors to it, too.
  const other = await post(CODEX, { reasoning: { effort: "immense" } });
  expect([other.status, ((await other.json()) as Refused).error.code]).toEqual([400, "unsupported_value"]);
});

const THEIRS: [string, string, string, object][] = [
  [
    "prompt is too long: 2100 tokens > 1950 maximum",
    "prompt is too long: 2100 tokens > 1950 maximum",
    "This model's maximum context length is 1950 tokens. The provider counts 2100 in this request.",
    { context_window: 1950, prompt_tokens: 2100 },
  ],
  [
    "This model's maximum context length is 1950 tokens. However, you requested 2300 tokens (1900 in the messages, 400 in the completion).",
    "input length and `max_tokens` exceed context limit: 1900 + 400 > 1950",
    "This model's maximum context length is 1950 tokens. The provider counts 2300 in this request.",
    { context_window: 1950, prompt_tokens: 1900, max_tokens: 400 },
  ],
  [
    "This model's maximum prompt length is 1950 but the request contains 2100 tokens.",
    "prompt is too long: 2100 tokens > 1950 maximum",
    "This model's maximum context length is 1950 tokens.",
    { context_window: 1950, prompt_tokens: 2100 },
  ],
  [
    "Your input exceeds the context window of this model.",
    "prompt is too long: ",
    "The provider counts more in this request than the model's maximum context length.",
    {},
  ],
];

for (const path of SURFACES)
  for (const stream of [false, true])
    test.each(THEIRS)(
      `${path}${stream ? ", streamed" : ""}, by the provider's count: %s`,
      async (theirs, claude, others, figures) => {
        gateway.simulator.behave({ behaviour: { status: 400, error_message: theirs }, calls: 1 });
        const calls = gateway.simulator.bill().length;
        const { message, details = {} } = await ask(path, "Hi", { most: 50, stream });
        expect(message).toStartWith(path === "/v1/messages" ? claude : others);
        expect(details).toEqual(figures as never);
        expect(gateway.simulator.bill()).toHaveLength(calls + 1);
        expect(gateway.simulator.bill().at(-1)).toMatchObject({ billed: false, outcome: "refused" });
      },
    );

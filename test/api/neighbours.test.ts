// Clients of unsupported surfaces are told the endpoint that exists. Also fields that only some clients send.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { PREVIEW_V1 as MODEL } from "../support/models.ts";

/** The public address, which differs from the listening one. */
const PUBLIC = "https://gate.example.com";
let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({
    models: [MODEL],
    configure: (config) => {
      config.publicUrl = PUBLIC;
    },
  });
  customer = await gateway.customer();
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

test.each([
  ["/v2/embeddings", "Embeddings are at"],
  ["/v1/complete", "Use chat completions"],
])("POST %s is 404 and names the endpoint that there is", async (path, says) => {
  const answer = await fetch(`${gateway.url}${path}`, { method: "POST", body: "{}" });
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  expect([answer.status, error.code]).toEqual([404, "unknown_url"]);
  expect(error.message).toContain(says);
  expect(error.message).toContain(`POST ${PUBLIC}/v1/chat/completions`);
});

test("clients of the Messages API are told where it is", async () => {
  for (const path of ["/messages", "/v1/messages/batches"]) {
    const answer = await fetch(`${gateway.url}${path}`, { method: "POST", body: "{}" });
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect([answer.status, error.code]).toEqual([404, "unknown_url"]);
    expect(error.message).toContain(`POST ${PUBLIC}/v1/messages.`);
  }
});

test.each(["/v1/files", "/v1/audio/speech", "/v1"])(
  "%s is 404 and says what there is, not that the base URL is wrong",
  async (path) => {
    const answer = await fetch(`${gateway.url}${path}`, { method: "POST", body: "{}" });
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect([answer.status, error.code]).toEqual([404, "unknown_url"]);
    expect(error.message).toBe(
      `There is nothing at this URL. Under ${PUBLIC}/v1 there are chat/completions, completions, embeddings, messages, responses and models.`,
    );
  },
);

test("a completion requested by its id was not stored; the answer says so, and where to look", async () => {
  for (const path of ["/chatcmpl-1", "/chatcmpl-1/messages"]) {
    const answer = await gateway.get<{ error: { code: string; message: string } }>(
      customer,
      `/v1/chat/completions${path}`,
    );
    expect([answer.status, answer.json.error.code]).toEqual([404, "unknown_url"]);
    expect(answer.json.error.message).toContain("Chat completions are not stored");
    expect(answer.json.error.message).toContain("GET /v1/generation?id=");
  }
});

test("Anthropic's clients get refusals in their own shape on every path", async () => {
  const headers = { "anthropic-version": "2023-06-01" };
  for (const path of ["/v1/files", "/v1/skills", "/v1/v1/messages"]) {
    const answer = await fetch(`${gateway.url}${path}`, { headers });
    const body = (await answer.json()) as { type: string; error: object; request_id: string };
    expect([answer.status, body]).toMatchObject([
      404,
      { type: "error", error: { type: "not_found_error", code: "unknown_url" } },
    ]);
    expect(answer.headers.get("request-id")).toBe(body.request_id);
  }
  const plain = await fetch(`${gateway.url}/v1/chat/completions/x`, { headers });
  expect((await plain.json()) as object).toHaveProperty("error.request_id"); // the surface's own shape comes first
});

const hello = { model: MODEL.model, messages: [{ role: "user", content: "Say hello" }] };
interface Logprobs {
  content: { token: string; logprob: number; bytes: number[]; top_logprobs: { token: string }[] }[];
}

test("log probabilities belong to exactly the text, in a body and in a stream", async () => {
  const asked = { ...hello, logprobs: true, top_logprobs: 2 };
  const whole = await gateway.chat<{ choices: { message: { content: string }; logprobs: Logprobs }[] }>(
    customer,
    asked,
  );
  const [choice] = whole.json.choices;
  const content = choice?.logprobs.content ?? [];
  expect(content.map(({ token }) => token).join("")).toBe(choice?.message.content ?? "none");
  for (const { token, logprob, bytes, top_logprobs: top } of content) {
    expect(Buffer.from(bytes).toString()).toBe(token);
    expect(logprob).toBeLessThan(0);
    expect([top.length, top[0]?.token]).toEqual([2, token]);
  }
  const answer = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ ...asked, stream: true }),
  });
  const chunks = (await answer.text())
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: {"))
    .map((frame) => JSON.parse(frame.slice(6)) as { choices?: { logprobs?: Logprobs | null }[] });
  const streamed = chunks.flatMap(({ choices }) => choices?.[0]?.logprobs?.content ?? []);
  expect(streamed).toEqual(content);
});

test("an image in its original size is accepted, within the release's bound", async () => {
  const url = "data:image/png;base64,iVBORw0KGgo=";
  const image = (detail: string) => ({ type: "image_url", image_url: { url, detail } });
  const ask = (detail: string) =>
    gateway.chat<{ gateway: { hold_usd?: string } }>(customer, {
      ...hello,
      messages: [{ role: "user", content: [image(detail), { type: "text", text: "What is it?" }] }],
    });
  expect((await ask("original")).status).toBe(200);
  expect((await ask("ultra")).status).toBe(400);
});

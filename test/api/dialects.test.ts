// A provider is sent only what it supports, in its own format (providers.md §2).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { DIALECTS } from "../../src/providers/openai/dialects.ts";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PLAIN, PREVIEW_V1, type TestManifest } from "../support/models.ts";

const NARROW: TestManifest = { ...PREVIEW_V1, model: "narrow-1", provider: "narrow", requires_paid: false };
/** The first route's provider supports less than the second one's. */
const BOTH: TestManifest = { ...PLAIN, model: "both-1", provider: "narrow", priority: 1 };

let upstream: Bun.Server<undefined>;
let got: Record<string, unknown>[] = [];
let status = 200;
let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  upstream = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      got.push((await request.json()) as Record<string, unknown>);
      if (status !== 200) return new Response(null, { status });
      return Response.json({
        choices: [{ message: { content: "ok" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
      });
    },
  });
  gateway = await startGateway({
    providers: { narrow: `http://127.0.0.1:${upstream.port}/v1` },
    models: [NARROW, BOTH, onProvider(BOTH, "simulator", { priority: 2 }), PLAIN],
    configure: ({ providers }) => {
      for (const provider of providers)
        if (provider.name === "narrow")
          provider.own = { dialect: { ...DIALECTS.deepseek, fields: ["top_p", "stream_options"] } };
    },
  });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await upstream.stop(true);
});

const ask = async (model: string, fields: object = {}): ReturnType<TestGateway["chat"]> => {
  got = [];
  return await gateway.chat(customer, {
    model,
    messages: [
      { role: "developer", content: "Be brief." },
      { role: "user", content: "Hi" },
    ],
    max_completion_tokens: 77,
    ...fields,
  });
};

test("its output maximum, its roles and its fields; other fields are named, not sent", async () => {
  const reply = await ask("narrow-1", { top_p: 0.5, seed: 7, user: "me", metadata: { a: "b" } });
  expect(reply.status).toBe(200);
  expect(reply.headers.get("x-gw-ignored-parameters")).toBe("metadata, seed, user");
  expect(got[0]).toMatchObject({
    max_tokens: 77,
    top_p: 0.5,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
    ],
  });
  for (const name of ["max_completion_tokens", "seed", "user", "metadata"])
    expect(got[0]).not.toHaveProperty(name);
});

test.each([
  ["n", { n: 2 }, "unsupported_value"],
  ["logprobs", { logprobs: true }, "unsupported_parameter"],
  ["response_format", { response_format: { type: "json_object" } }, "unsupported_value"],
])("%s would change the answer: refused, whatever the release offers", async (param, fields, code) => {
  const { status: told, json } = await ask("narrow-1", fields);
  expect([told, (json as unknown as ErrorJson).error]).toMatchObject([400, { code, param }]);
  expect(got).toEqual([]);
});

test("fields that were not applied are those of the route that answered", async () => {
  const first = await ask("both-1", { seed: 7 });
  expect([first.status, first.headers.get("x-gw-ignored-parameters")]).toEqual([200, "seed"]);
  status = 503;
  try {
    const second = await ask("both-1", { seed: 7 });
    expect([second.status, got.length]).toEqual([200, 1]);
    expect(second.headers.get("x-gw-ignored-parameters")).toBeNull();
  } finally {
    status = 200;
  }
});

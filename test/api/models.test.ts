// The list of models in the caller's own shape: OpenAI's with the fields that OpenRouter's clients use, or
// Anthropic's, chosen by the header that its clients send (wire.md §5).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN, PREVIEW_V1, RESEARCH, VECTORS } from "../support/models.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({
    models: [
      PREVIEW_V1,
      PLAIN,
      RESEARCH,
      VECTORS,
      { ...PLAIN, model: "a/b", upstream_model: "sim-secret-1" },
      {
        ...PLAIN,
        route: "plain-1-dearer",
        priority: 2,
        pricing: { ...PLAIN.pricing, input_per_million: "7" },
      },
      { ...PLAIN, route: "plain-1-same", priority: 3 },
    ],
  });
  customer = await gateway.customer();
});
afterAll(() => gateway.stop());

interface Page {
  data: { type: string; id: string; display_name: string; created_at: string; max_tokens: number }[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
}

const VERSION = { "anthropic-version": "2023-06-01" };

async function get<T = Page>(
  path: string,
  headers: Record<string, string> = { "x-api-key": customer.secret, ...VERSION },
): Promise<{ status: number; headers: Headers; json: T }> {
  const reply = await fetch(`${gateway.baseUrl}/models${path}`, { headers });
  return { status: reply.status, headers: reply.headers, json: (await reply.json()) as T };
}

test("Anthropic's clients get their list, with the key in their header, without routes or prices", async () => {
  const { status, headers, json } = await get("");
  expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect(json.data.map(({ id }) => id).toSorted((a, b) => a.localeCompare(b))).toEqual([
    "a/b",
    "base-preview-v1",
    "plain-1",
  ]);
  for (const one of json.data) {
    expect(Object.keys(one)).toEqual([
      "type",
      "id",
      "display_name",
      "created_at",
      "max_input_tokens",
      "max_tokens",
      "lifecycle",
      "line",
      "capabilities",
      "deprecated_at",
      "retires_at",
    ]);
    expect([one.type, one.display_name, new Date(one.created_at).getTime() > 0]).toEqual([
      "model",
      one.id,
      true,
    ]);
  }
  expect(json).toMatchObject({ has_more: false, first_id: json.data[0]?.id, last_id: json.data[2]?.id });
  const bearer = await get("", { authorization: `Bearer ${customer.secret}`, ...VERSION });
  expect(bearer.json).toEqual(json);
  expect(JSON.stringify(json)).not.toMatch(/sim|provider|local|pricing/);
  const one = await get<Page["data"][0]>("/a%2Fb");
  expect(one.json).toEqual(json.data.find(({ id }) => id === "a/b") as Page["data"][0]);
});

test("pages continue where the last one ended, in both directions; together they are the list", async () => {
  const ids = (await get("")).json.data.map(({ id }) => id);
  const first = (await get("?limit=2")).json;
  expect([first.data.map(({ id }) => id), first.has_more, first.last_id]).toEqual([
    ids.slice(0, 2),
    true,
    ids[1] ?? "",
  ]);
  const rest = (await get(`?limit=2&after_id=${encodeURIComponent(first.last_id ?? "")}`)).json;
  expect([rest.data.map(({ id }) => id), rest.has_more]).toEqual([ids.slice(2), false]);
  const back = (await get(`?limit=1&before_id=${encodeURIComponent(ids[2] ?? "")}`)).json;
  expect([back.data.map(({ id }) => id), back.has_more]).toEqual([ids.slice(1, 2), true]);
  const end = (await get(`?after_id=${encodeURIComponent(ids[2] ?? "")}`)).json;
  expect(end).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
});

test("refusals use Anthropic's envelope", async () => {
  for (const [path, status, type] of [
    ["?limit=0", 400, "invalid_request_error"],
    ["?limit=1001", 400, "invalid_request_error"],
    ["?limit=ten", 400, "invalid_request_error"],
    ["?after_id=nobody", 400, "invalid_request_error"],
    ["?after_id=plain-1&before_id=plain-1", 400, "invalid_request_error"],
    ["/nobody", 404, "not_found_error"],
    ["/base-research-1", 404, "not_found_error"],
    ["/vectors-1", 404, "not_found_error"],
  ] as const) {
    const reply = await get<{ type: string; error: { type: string }; request_id: string }>(path);
    expect([path, reply.status, reply.json.type, reply.json.error.type]).toEqual([
      path,
      status,
      "error",
      type,
    ]);
    expect(reply.headers.get("request-id")).toBe(reply.json.request_id);
  }
  const stranger = await get<{ error: { type: string } }>("", VERSION);
  expect([stranger.status, stranger.json.error.type]).toEqual([401, "authentication_error"]);
  // Without the header it is OpenAI's list, which expects the key elsewhere.
  expect((await get("", { "x-api-key": customer.secret })).status).toBe(401);
});

test("the fields that OpenRouter's clients use are beside OpenAI's", async () => {
  const { json } = await gateway.get<{ data: Record<string, unknown>[] }>(customer, "/v1/models");
  const found = (id: string) => json.data.find((one) => one["id"] === id);
  expect(found("base-preview-v1")).toMatchObject({
    object: "model",
    name: "base-preview-v1",
    context_length: 131_072,
    architecture: {
      modality: "text+image->text",
      input_modalities: ["text", "image"],
      output_modalities: ["text"],
      tokenizer: "GPT",
      instruct_type: null,
    },
    pricing: { prompt: "0.000002", completion: "0.000002" },
    top_provider: { context_length: 131_072, max_completion_tokens: 8192, is_moderated: false },
    per_request_limits: null,
  });
  expect(found("vectors-1")).toMatchObject({
    architecture: { modality: "text->embeddings", output_modalities: ["embeddings"] },
    pricing: { prompt: "0.000002", completion: "0" },
    top_provider: { max_completion_tokens: 0 },
  });
  expect(JSON.stringify(json)).not.toContain("sim-secret-1");
});

test("a route with other prices than the first lists them; one with the same prices does not", async () => {
  const { json } = await gateway.get<{ pricing: object; routes: { route: string; pricing?: object }[] }>(
    customer,
    "/v1/models/plain-1",
  );
  expect(json.routes.map(({ route, pricing }) => [route, pricing])).toEqual([
    ["plain-1@simulator/local", undefined],
    ["plain-1-dearer", { ...json.pricing, input_per_million: "7", prompt: "0.000007" } as object],
    ["plain-1-same", undefined],
  ]);
});

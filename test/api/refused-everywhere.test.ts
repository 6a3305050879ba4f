// What specification 2.1 rejects is rejected on every surface, whatever shape the model's provider speaks: raw token
// ids, runtime adapters, and reasoning requested in another surface's format. None of it reaches a provider or is
// silently dropped; nor is an unknown member of an option.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { FORMATS } from "../../src/gateway/formats/formats.ts";
import { REFUSED_FIELDS } from "../../src/gateway/formats/chat-completions/refused-fields.ts";
import { addFaces } from "../support/faces.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { ON_EVERY_SHAPE, onProvider, PREVIEW_V1, VECTORS } from "../support/models.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ configure: addFaces, models: [...ON_EVERY_SHAPE, ...ON_BEDROCK, VECTORS] });
  customer = await gateway.customer({ usd: "50" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

/** The second one has no field for thinking, whatever its release says. */
const ON_BEDROCK = [
  onProvider({ ...PREVIEW_V1, model: "on-aws", upstream_model: "anthropic.claude-opus-4-5-v1:0" }, "aws"),
  onProvider({ ...PREVIEW_V1, model: "on-nova", upstream_model: "amazon.nova-pro-v1:0" }, "aws"),
];

const SAID = [{ role: "user", content: "Say hello" }];
const BODIES: Record<string, object> = {
  "/v1/chat/completions": { max_tokens: 60, messages: SAID },
  "/v1/completions": { max_tokens: 60, prompt: "Say hello" },
  "/v1/messages": { max_tokens: 60, messages: SAID },
  "/v1/responses": { max_output_tokens: 60, input: "Say hello" },
};
const WORDS = FORMATS.filter(({ path }) => path in BODIES).map(({ path }) => path);
const MODELS = ON_EVERY_SHAPE.map(({ model }) => model);
const PATHS = [...WORDS, "/v1/messages/count_tokens", "/v1/responses/input_tokens"];

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

async function ask(path: string, body: object): Promise<[status: number, code: unknown, param: unknown]> {
  const response = await post(path, body);
  const { error } = (await response.json()) as { error?: { code: string; param: string | null } };
  return [response.status, error?.code, error?.param];
}

const bodyOf = (path: string): object => BODIES[path.replace(/\/(?:count|input)_tokens$/, "")] ?? {};

const sensitive = [...REFUSED_FIELDS].filter(
  ([, { code }]) => code === "raw_token_ids_not_allowed" || code === "runtime_adapter_not_allowed",
);

test("every chat surface is tested here", () => {
  expect(FORMATS.map(({ path }) => path).filter((path) => path !== "/v1/embeddings")).toEqual(WORDS);
});

test.each(PATHS)(
  "raw token ids and runtime adapters are rejected on %s, and no provider hears of them",
  async (path) => {
    const calls = gateway.simulator.bill().length;
    // The legacy surface has an `echo` of its own, whose default is allowed.
    const asked = sensitive.filter(([name]) => !(path === "/v1/completions" && name === "echo"));
    for (const model of MODELS)
      for (const [name, { code }] of asked)
        expect([model, name, await ask(path, { model, ...bodyOf(path), [name]: [1] })]).toEqual([
          model,
          name,
          [400, code, name],
        ]);
    for (const model of MODELS)
      expect(await ask(path, { model, ...bodyOf(path), logit_bias: { "50256": -100 } })).toEqual([
        400,
        "raw_token_ids_not_allowed",
        "logit_bias",
      ]);
    expect(gateway.simulator.bill()).toHaveLength(calls);
  },
);

const FOREIGN: [path: string, names: Record<string, unknown>][] = [
  [
    "/v1/messages",
    {
      reasoning_effort: "none",
      reasoning: { effort: "high" },
      enable_thinking: false,
      thinking_budget: 0,
      include_reasoning: true,
    },
  ],
  [
    "/v1/responses",
    {
      reasoning_effort: "none",
      thinking: { type: "disabled" },
      enable_thinking: false,
      thinking_token_budget: 0,
    },
  ],
];

test.each(FOREIGN)(
  "the amount of thinking is given in the format of %s, or refused by name",
  async (path, names) => {
    const calls = gateway.simulator.bill().length;
    for (const model of MODELS)
      for (const [name, value] of Object.entries(names))
        expect([model, name, await ask(path, { model, ...bodyOf(path), [name]: value })]).toEqual([
          model,
          name,
          [400, "unknown_parameter", name],
        ]);
    expect(gateway.simulator.bill()).toHaveLength(calls);
  },
);

test("an adapter is refused as such beside embedding inputs, and null is not one", async () => {
  const vectors = { model: "vectors-1", input: "hello" };
  expect(await ask("/v1/embeddings", { ...vectors, lora_path: "x" })).toEqual([
    400,
    "runtime_adapter_not_allowed",
    "lora_path",
  ]);
  const absent = Object.fromEntries([...REFUSED_FIELDS.keys()].map((name) => [name, null]));
  for (const [path, body] of [
    ["/v1/embeddings", vectors] as const,
    ...PATHS.map((path) => [path, { model: "on-claude", ...bodyOf(path) }] as const),
  ])
    expect([path, await ask(path, { ...absent, ...body })]).toEqual([path, [200, undefined, undefined]]);
});

test.each<[path: string, options: object, named: string[]]>([
  [
    "/v1/chat/completions",
    {
      stream: true,
      stream_options: { include_usage: true, continuous_usage_stats: true, none: null },
      thinking: { type: "enabled", "kept\r\nx: y": "all" },
      response_format: { type: "json_schema", json_schema: { name: "a", schema: {}, lazy: 1 }, mode: "x" },
    },
    [
      "stream_options.continuous_usage_stats",
      "thinking.kept??x??y",
      "response_format.mode",
      "response_format.json_schema.lazy",
    ],
  ],
  [
    "/v1/messages",
    {
      thinking: { type: "adaptive", display: "omitted" },
      output_config: { effort: "low", task_budget: 1 },
      metadata: { team: "t" },
    },
    ["thinking.display", "output_config.task_budget", "metadata.team"],
  ],
  [
    "/v1/responses",
    {
      text: { format: { type: "text", lazy: 1 }, tone: "x" },
      reasoning: { effort: "low", context: "all", depth: 3 },
      stream: true,
      stream_options: { include_usage: true },
    },
    ["text.tone", "text.format.lazy", "reasoning.context", "reasoning.depth", "stream_options.include_usage"],
  ],
])("unknown members of options are named on %s", async (path, options, named) => {
  const response = await post(path, { model: "on-gemini", ...bodyOf(path), ...options });
  await response.text();
  expect([response.status, response.headers.get("x-gw-ignored-parameters")]).toEqual([200, named.join(", ")]);
});

test("for an option full of unknown members eight are named", async () => {
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`m${n}`, n]));
  const path = "/v1/chat/completions";
  const response = await post(path, {
    model: "on-openai",
    ...bodyOf(path),
    thinking: { type: "enabled", ...many },
  });
  expect(response.headers.get("x-gw-ignored-parameters")?.split(", ")).toHaveLength(8);
});

/** A thinking budget is at least 1,024 tokens, and less than the maximum. */
const [TIGHT, AMPLE] = [30, 3000];

test.each<[model: string, max: number, said: object, named: string | null]>([
  ["on-claude", TIGHT, { reasoning_effort: "high" }, "reasoning_effort"],
  ["on-claude", TIGHT, { thinking: { type: "enabled" } }, "thinking.type"],
  ["on-claude", TIGHT, { reasoning_effort: "none" }, null],
  ["on-claude", TIGHT, {}, null],
  ["on-claude", AMPLE, { reasoning_effort: "high" }, null],
  ["on-aws", TIGHT, { reasoning_effort: "high" }, "reasoning_effort"],
  ["on-aws", AMPLE, { reasoning_effort: "high" }, null],
  ["on-nova", AMPLE, { reasoning_effort: "high" }, "reasoning_effort"],
  ["on-gemini", AMPLE, { reasoning_effort: "high" }, null],
  ["on-openai", TIGHT, { reasoning_effort: "high" }, null],
])("requested thinking without room is named: %s, at most %d, %o", async (model, max, said, named) => {
  const response = await post("/v1/chat/completions", { model, messages: SAID, max_tokens: max, ...said });
  await response.text();
  expect([response.status, response.headers.get("x-gw-ignored-parameters")]).toEqual([200, named]);
});

test("a forced tool leaves no thinking budget, and the effort beside it is named", async () => {
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  const said = { reasoning_effort: "high", tools, tool_choice: "required" };
  const response = await post("/v1/chat/completions", {
    model: "on-claude",
    messages: SAID,
    max_tokens: AMPLE,
    ...said,
  });
  await response.text();
  expect(response.headers.get("x-gw-ignored-parameters")).toBe("reasoning_effort");
});

test.each<[model: string, said: object, named: string | null]>([
  ["on-claude", { thinking: { type: "enabled", budget_tokens: 1024 } }, "thinking"],
  ["on-gemini", { thinking: { type: "enabled", budget_tokens: 1024 } }, "thinking.budget_tokens"],
  [
    "on-openai",
    { thinking: { type: "disabled" }, output_config: { effort: "high" } },
    "output_config.effort",
  ],
  ["on-openai", { thinking: { type: "disabled" } }, null],
])("on Messages, too: %s, %o", async (model, said, named) => {
  const response = await post("/v1/messages", { model, ...bodyOf("/v1/messages"), ...said });
  await response.text();
  expect([response.status, response.headers.get("x-gw-ignored-parameters")]).toEqual([200, named]);
});

test.each(Object.entries(BODIES))(
  "a request above the model's window is refused by a field that %s has",
  async (path, body) => {
    const most = Object.fromEntries(
      Object.entries(body).map(([name, value]) => [
        name,
        name.startsWith("max_") ? 10_000_000 : (value as unknown),
      ]),
    );
    const response = await post(path, { ...most, model: MODELS[0] });
    const { error } = (await response.json()) as { error: { message: string; param: string | null } };
    expect([response.status, Object.keys(body)]).toEqual([400, expect.arrayContaining([error.param])]);
    if (path === "/v1/completions") expect(error.message).not.toContain("messages");
  },
);

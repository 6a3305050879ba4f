// Explicit defaults, as SDKs' types list them and wrappers send them: on every surface and every upstream shape they
// count as absent (wire.md, head). The simulator refuses fields that it does not know, so this shows what it was
// sent.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { addFaces } from "../support/faces.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { ON_EVERY_SHAPE, onProvider, PREVIEW_V1, VECTORS } from "../support/models.ts";

const ON_AWS = onProvider(
  { ...PREVIEW_V1, model: "on-aws", upstream_model: "anthropic.claude-opus-4-5-v1:0" },
  "aws",
);
const MODELS = [...ON_EVERY_SHAPE, ON_AWS].map(({ model }) => model);

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ configure: addFaces, models: [...ON_EVERY_SHAPE, ON_AWS, VECTORS] });
  customer = await gateway.customer({ usd: "50" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

async function ask(
  path: string,
  body: object,
): Promise<[status: number, ignored: string | null, ...unknown[]]> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { error } = (await response.json()) as { error?: { message: string } | null };
  const ignored = response.headers.get("x-gw-ignored-parameters");
  return (error ?? null) === null ? [response.status, ignored] : [response.status, ignored, error?.message];
}

const SAID = [{ role: "user", content: "Say hello" }];

/** By path: the minimal request, and the defaults added to it. */
const SURFACES: [path: string, body: object, defaults: object][] = [
  [
    "/v1/chat/completions",
    { max_tokens: 60, messages: SAID },
    {
      n: 1,
      logprobs: false,
      top_logprobs: null,
      logit_bias: {},
      stop: [],
      stream: false,
      stream_options: null,
      store: false,
      metadata: {},
      modalities: ["text"],
      response_format: { type: "text" },
      service_tier: "auto",
      tools: [],
      tool_choice: "auto",
      parallel_tool_calls: true,
      functions: [],
      function_call: "none",
      temperature: 1,
      top_p: 1,
      frequency_penalty: 0,
      presence_penalty: 0,
      verbosity: "medium",
      best_of: 1,
    },
  ],
  [
    "/v1/completions",
    { max_tokens: 60, prompt: "Say hello" },
    {
      n: 1,
      best_of: 1,
      echo: false,
      suffix: "",
      logprobs: null,
      logit_bias: {},
      stop: [],
      stream: false,
      store: false,
      metadata: {},
      service_tier: "auto",
      response_format: { type: "text" },
      tools: [],
      tool_choice: "none",
      temperature: 1,
      top_p: 1,
      frequency_penalty: 0,
      presence_penalty: 0,
    },
  ],
  [
    "/v1/messages",
    { max_tokens: 60, messages: SAID },
    {
      system: "",
      stop_sequences: [],
      stream: false,
      temperature: 1,
      top_p: 1,
      tools: [],
      metadata: {},
      service_tier: "auto",
      speed: "standard",
      mcp_servers: [],
      output_config: { effort: null, format: null },
      billing_policy: { type: "billing_policy", bill_to: "self" },
    },
  ],
  [
    "/v1/responses",
    { max_output_tokens: 60, input: "Say hello" },
    {
      background: false,
      store: false,
      stream: false,
      truncation: "disabled",
      include: [],
      instructions: "",
      metadata: {},
      modalities: ["text"],
      parallel_tool_calls: true,
      previous_response_id: null,
      context_management: [],
      service_tier: "auto",
      speed: "standard",
      n: 1,
      stop: [],
      temperature: 1,
      text: { format: { type: "text" }, verbosity: "medium" },
      tool_choice: "auto",
      tools: [],
      top_p: 1,
    },
  ],
];

test.each(SURFACES)("%s: one by one and all at once", async (path, body, defaults) => {
  for (const model of MODELS) {
    for (const [name, value] of Object.entries(defaults))
      expect([model, name, await ask(path, { model, ...body, [name]: value })]).toEqual([
        model,
        name,
        [200, null],
      ]);
    expect([model, await ask(path, { model, ...body, ...defaults })]).toEqual([model, [200, null]]);
  }
});

test("/v1/embeddings: one by one and all at once", async () => {
  const defaults = { encoding_format: "float", dimensions: null, user: "" };
  for (const said of [...Object.entries(defaults).map(([name, value]) => ({ [name]: value })), defaults])
    expect(await ask("/v1/embeddings", { model: VECTORS.model, input: "text", ...said })).toEqual([
      200,
      null,
    ]);
});

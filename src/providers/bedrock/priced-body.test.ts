import fc from "fast-check";
import { nanoUsd } from "../../domain/money.ts";
import { callDraft } from "../openai/openai.fixtures.ts";
import { ANY, isPricedAsSent } from "../priced-body.fixtures.ts";
import { said } from "./bedrock.fixtures.ts";

const MODELS = [
  "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  "global.anthropic.claude-opus-4-6-v1:0",
  "us.amazon.nova-2-lite-v1:0",
  "openai.gpt-oss-120b-1:0",
  "meta.llama4-v1:0",
];
const { release } = callDraft();
const WRITES = { cacheWrite: nanoUsd(1n), cacheWrite1h: nanoUsd(2n) };
const place = fc.nat({ max: 20 }).map(String);
const reasoning = fc.oneof(
  fc.record({ text: ANY.word, signature: ANY.word, after: place }),
  fc.record({ redacted: fc.constant("c2VhbGVk"), after: place }),
);

isPricedAsSent({
  extra: fc.record({
    bedrock: fc.record({
      by: fc.constantFrom("claude", ...MODELS),
      reasoning: fc.array(reasoning, { maxLength: 3 }),
    }),
  }),
  remoteImages: false,
  filesMax: 5,
  how: fc.record({
    model: fc.constantFrom(...MODELS),
    reasoningEffort: fc.constantFrom(null, "none", "low", "high", "20000"),
    temperature: fc.constantFrom(null, 0.123456789),
    dialect: fc.constantFrom({}, { guardrail: { id: "gr-1", version: "3" } }),
    release: fc.constantFrom(release, { ...release, price: { ...release.price, ...WRITES } }),
  }),
  prepare: said.prepared,
  weightless: "data",
  slack: 130,
  ceilingOf: ({ inferenceConfig }) => (inferenceConfig as { maxTokens: number }).maxTokens,
  read({ system = [], messages, toolConfig, outputConfig, inferenceConfig }) {
    const contents = (messages as { content: unknown }[]).map(({ content }) => content);
    const { stopSequences } = inferenceConfig as { stopSequences?: string[] };
    return [system, contents, toolConfig, outputConfig, stopSequences];
  },
  frame: "text cachePoint type default ttl 1h",
});

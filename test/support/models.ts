// The models that test gateways publish: the demo's kinds, with prices that make sums easy to calculate by hand.
import type { ManifestInput } from "../../src/releases/manifest.ts";

/** Two dollars per million in and out: every token costs 2,000 nano-USD. */
export const pricing = {
  currency: "USD",
  input_per_million: "2",
  cached_input_per_million: "0.2",
  output_per_million: "2",
  request_minimum: "0.0001",
} as const;

const base = {
  provider: "simulator",
  region: "local",
  tier: "standard",
  version: 1,
  context_window: 131_072,
  max_output_tokens: 8192,
  default_output_tokens: 1024,
  tokenizer: "o200k_base",
  capabilities: { tools: true, json_schema: true, logprobs: true, images: true, max_n: 4 },
  image_tokens_max: 1000,
  defaults: { temperature: 1 },
  pricing,
} as const;

export type TestManifest = Omit<ManifestInput, "version"> & { version: number };

export const PREVIEW_V1: TestManifest = {
  ...base,
  model: "base-preview-v1",
  upstream_model: "sim-base-1",
  requires_paid: true,
  reasoning: { modes: ["none", "low", "medium", "high"], default: "medium" },
};
export const PREVIEW_V2: TestManifest = {
  ...PREVIEW_V1,
  model: "base-preview-v2",
  upstream_model: "sim-base-2",
  reasoning: { modes: ["none", "low", "high"], default: "low" },
};
export const RESEARCH: TestManifest = {
  ...base,
  model: "base-research-1",
  upstream_model: "sim-research-1",
  tier: "research",
};
export const PLAIN: TestManifest = {
  ...base,
  model: "plain-1",
  upstream_model: "sim-plain-1",
  capabilities: { max_n: 1 },
  image_tokens_max: undefined,
};

/** Reads PDFs, too; its prompts are never counted. */
export const READER: TestManifest = {
  ...PLAIN,
  model: "reader-1",
  tokenizer: "bytes",
  capabilities: { files: true, images: true, max_n: 1 },
  image_tokens_max: 1000,
  file_tokens_max: 3000,
  file_pages_max: 10,
};

/** Prompts are bounded by their bytes and never counted, so that every call with the same body holds the same. */
export const UNCOUNTED: TestManifest = { ...PLAIN, model: "uncounted-1", tokenizer: "bytes" };

export const MODELS: readonly TestManifest[] = [PREVIEW_V1, PREVIEW_V2, RESEARCH, PLAIN, UNCOUNTED];

/** A second route of a model, on another provider. */
export const onProvider = (
  manifest: TestManifest,
  provider: string,
  also: Partial<TestManifest> = {},
): TestManifest => ({
  ...manifest,
  provider,
  ...also,
});

/** A model for each upstream shape, on the providers of `faces.ts`. */
export const ON_EVERY_SHAPE: readonly TestManifest[] = [
  onProvider({ ...PREVIEW_V1, model: "on-openai" }, "simulator"),
  onProvider({ ...PREVIEW_V1, model: "on-claude", upstream_model: "claude-opus-4-5" }, "claude"),
  onProvider({ ...PREVIEW_V1, model: "on-gemini", upstream_model: "gemini-3.8-flash" }, "gemini"),
];

/** An embedding model, which has no output tokens. Two dollars per million tokens. */
export const VECTORS: TestManifest = {
  model: "vectors-1",
  provider: "simulator",
  upstream_model: "sim-vectors-1",
  region: "local",
  tier: "standard",
  version: 1,
  context_window: 300_000,
  tokenizer: "o200k_base",
  capabilities: { embeddings: true },
  pricing: { ...pricing, cached_input_per_million: undefined, output_per_million: "0", request_minimum: "0" },
};

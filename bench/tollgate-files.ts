// The operator's files for the gateway under test: configuration and release manifests (interfaces.md §3 and §4).
// Logging stays at its default level, because operators pay for it, too.
import { join } from "node:path";

interface Places {
  port: number;
  dataDir: string;
  upstreamPort: number;
  scratchDir: string;
  /** Its key at the upstream. */
  account: string;
  /** Further providers at the same upstream, as items of the settings' list. */
  providers?: string;
}

export const settingsOf = (places: Places): string => `
listen: { host: 127.0.0.1, port: ${places.port} }
data_dir: ${places.dataDir}
trust:
  release_keys: [ ${join(places.scratchDir, "keys/release.public.jwk")} ]
providers:
  - name: bench
    kind: openai
    base_url: http://127.0.0.1:${places.upstreamPort}/v1
    api_key: ${places.account}
${places.providers ?? ""}`;

/** The output limit of a request that names none, and so the part of its hold besides the prompt. */
export const DEFAULT_OUTPUT_TOKENS = 4096;

/**
 * The rates are those of scripts.ts in dollars per million tokens; the flood gets the highest ceiling a release may
 * have.
 */
export const manifestOf = (model: string, provider = "bench", upstreamModel = model): string => {
  const flood = model === "bench-sse-flood";
  return `
model: ${model}
provider: ${provider}
upstream_model: ${upstreamModel}
region: local
version: 1
tier: standard
requires_paid: false
context_window: ${flood ? 16_777_216 : 1_000_000}
max_output_tokens: ${flood ? 16_000_000 : 8192}
default_output_tokens: ${flood ? 16_000_000 : DEFAULT_OUTPUT_TOKENS}
pricing: { currency: USD, input_per_million: "0.50", output_per_million: "1.50", request_minimum: "0.0001" }
tokenizer: o200k_base
capabilities: { tools: true, images: false, json_schema: true, logprobs: false, max_n: 1 }
priority: 1
weight: 100
`;
};

/** A manifest for an embedding model, at the same rate. */
export const vectorsManifestOf = (model: string): string => `
model: ${model}
provider: bench
upstream_model: ${model}
region: local
version: 1
tier: standard
requires_paid: false
context_window: 8192
pricing: { currency: USD, input_per_million: "0.50", output_per_million: "0", request_minimum: "0.0001" }
tokenizer: o200k_base
capabilities: { embeddings: true }
priority: 1
weight: 100
`;

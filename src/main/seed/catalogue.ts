// What a seeded gateway sells: models of several providers with their releases, some of which expire soon,
// have expired, were replaced by a more expensive one or were disabled. Every provider is the built-in
// simulator under its own name.
import type { ManifestInput } from "../../releases/manifest.ts";

export const SEEDED_PROVIDERS = ["openai", "anthropic", "fireworks", "deepinfra", "together"] as const;
type SeededProvider = (typeof SEEDED_PROVIDERS)[number];

type Terms = Omit<ManifestInput, "version" | "provider" | "region" | "upstream_model">;

export interface SeededModel extends Terms {
  model: string;
  /** Median milliseconds to the first token, and tokens per second after it. */
  firstTokenMs: number;
  tokensPerSecond: number;
  routes: SeededRoute[];
}

export interface SeededRoute {
  provider: SeededProvider;
  region: string;
  priority?: number;
  /** Its release expires this many days after the end of the seeded time (before it, if negative). */
  endsInDays: number;
  /** From this fraction of the seeded time on, a second release with these prices replaces it. */
  replaced?: { at: number; pricing: Terms["pricing"] };
  /** Disabled by the operator at this fraction of the seeded time. */
  disabled?: { at: number; reason: string };
}

const tools = { tools: true, json_schema: true, max_n: 4 } as const;
const price = (input: string, output: string, cached?: string) =>
  ({
    currency: "USD",
    input_per_million: input,
    ...(cached !== undefined && { cached_input_per_million: cached }),
    output_per_million: output,
    request_minimum: "0.0001",
  }) as const;

const standard = {
  tier: "standard",
  tokenizer: "o200k_base",
  capabilities: tools,
  defaults: { temperature: 1 },
} as const;

export const SEEDED_MODELS: readonly SeededModel[] = [
  {
    ...standard,
    model: "gpt-5.4-mini",
    context_window: 400_000,
    max_output_tokens: 128_000,
    default_output_tokens: 4096,
    reasoning: { modes: ["none", "low", "medium", "high"], default: "low" },
    pricing: price("0.25", "2.00", "0.025"),
    firstTokenMs: 420,
    tokensPerSecond: 110,
    routes: [{ provider: "openai", region: "us", endsInDays: 21 }],
  },
  {
    ...standard,
    model: "claude-sonnet-5",
    requires_paid: true,
    context_window: 200_000,
    max_output_tokens: 64_000,
    default_output_tokens: 4096,
    reasoning: { modes: ["none", "low", "high"], default: "none" },
    pricing: {
      ...price("3.00", "15.00", "0.30"),
      cache_write_per_million: "3.75",
      cache_write_1h_per_million: "6.00",
    },
    firstTokenMs: 780,
    tokensPerSecond: 68,
    routes: [{ provider: "anthropic", region: "us", endsInDays: 17 }],
  },
  {
    ...standard,
    model: "glm-5",
    context_window: 131_072,
    max_output_tokens: 32_768,
    default_output_tokens: 2048,
    reasoning: { modes: ["none", "high"], default: "none" },
    pricing: price("0.60", "2.20", "0.11"),
    firstTokenMs: 510,
    tokensPerSecond: 84,
    routes: [
      {
        provider: "fireworks",
        region: "us",
        endsInDays: 25,
        replaced: { at: 0.55, pricing: price("0.55", "1.95", "0.10") },
      },
      { provider: "together", region: "eu", priority: 2, endsInDays: 6 },
    ],
  },
  {
    ...standard,
    model: "qwen3-coder",
    context_window: 262_144,
    max_output_tokens: 65_536,
    default_output_tokens: 4096,
    pricing: price("0.40", "1.60"),
    firstTokenMs: 360,
    tokensPerSecond: 125,
    routes: [
      { provider: "fireworks", region: "us", endsInDays: 1.25 },
      { provider: "deepinfra", region: "eu", priority: 2, endsInDays: 19 },
    ],
  },
  {
    ...standard,
    model: "llama-4-scout",
    context_window: 131_072,
    max_output_tokens: 8192,
    default_output_tokens: 1024,
    pricing: price("0.11", "0.34"),
    firstTokenMs: 240,
    tokensPerSecond: 190,
    routes: [
      { provider: "together", region: "us", endsInDays: 23 },
      {
        provider: "deepinfra",
        region: "eu",
        priority: 2,
        endsInDays: 23,
        disabled: { at: 0.72, reason: "invoices of this region are disputed" },
      },
    ],
  },
  {
    ...standard,
    model: "deepseek-v4",
    context_window: 131_072,
    max_output_tokens: 16_384,
    default_output_tokens: 2048,
    reasoning: { modes: ["none", "high"], default: "high" },
    pricing: price("0.27", "1.10", "0.07"),
    firstTokenMs: 900,
    tokensPerSecond: 52,
    routes: [{ provider: "deepinfra", region: "us", endsInDays: -4.6 }],
  },
  {
    tier: "standard",
    tokenizer: "o200k_base",
    model: "embed-3-small",
    context_window: 8192,
    capabilities: { embeddings: true },
    pricing: { currency: "USD", input_per_million: "0.02", output_per_million: "0", request_minimum: "0" },
    firstTokenMs: 90,
    tokensPerSecond: 1,
    routes: [{ provider: "openai", region: "us", endsInDays: 21 }],
  },
  {
    ...standard,
    model: "kimi-k3-research",
    tier: "research",
    context_window: 262_144,
    max_output_tokens: 32_768,
    default_output_tokens: 4096,
    reasoning: { modes: ["low", "high"], default: "high" },
    pricing: price("1.20", "5.00", "0.15"),
    firstTokenMs: 1400,
    tokensPerSecond: 41,
    routes: [{ provider: "fireworks", region: "us", endsInDays: 12 }],
  },
];

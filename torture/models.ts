// The models of a run: one upstream model per provider fault, so that a planned request always meets the same fault,
// even after a crash in between. Prices are easy to calculate: 2,000 nano-USD for every token.
import { formatUsd, nanoUsd } from "../src/domain/money.ts";
import type { ManifestInput } from "../src/releases/manifest.ts";

export const NANO_PER_TOKEN = 2_000n;
export const MINIMUM_NANO = 100_000n;

/**
 * The providers of a run: one simulator in all the shapes it speaks, with the path below its address and the settings
 * of the kind.
 */
export const PROVIDERS = {
  alpha: { kind: "simulator", path: "/v1" },
  beta: { kind: "simulator", path: "/v1" },
  claude: { kind: "anthropic", path: "/anthropic/v1", api_key: "sk-ant-torture" },
  converse: {
    kind: "bedrock",
    path: "/bedrock",
    region: "us-east-1",
    access_key_id: "AKIATORTURETORTURE00",
    secret_access_key: "torture/torture/torture/torture/torture0",
  },
  /** Reports its usage with each chunk. */
  gemini: { kind: "google", path: "/google/v1beta", api_key: "AIzaSyTortureTortureTortureTortureTortur" },
} as const;
type ProviderName = keyof typeof PROVIDERS;

export interface Model {
  name: string;
  /** How often plans choose it, relative to the others. */
  weight: number;
  /** What the simulator does on each route, in the order of trial. */
  routes: Record<string, unknown>[];
  /** The providers of its routes, in their order. */
  providers: readonly ProviderName[];
  /** True if the provider answers well on some route: then only chaos, the caller or the books may spoil the answer. */
  sound: boolean;
  /** True if the provider's reported usage differs from its bill. */
  misreports?: boolean;
  /** What plans close for a while and reopen: its routes, or the entitlements to it. */
  switched?: "routes" | "entitlement";
  /** True if plans publish releases of it at other prices. */
  repriced?: boolean;
  /** True if its releases price classes of tokens: at the rate of all tokens, so that sums stay easy. */
  classed?: boolean;
  /** True if it is an embedding model. */
  vectors?: boolean;
  /** True if its requests carry a PDF. */
  files?: boolean;
}

const well = (name: string, weight: number, behaviour: Record<string, unknown> = {}): Model => ({
  name,
  weight,
  routes: [behaviour],
  providers: ["alpha", "beta"],
  sound: true,
});
const ill = (name: string, weight: number, ...routes: Record<string, unknown>[]): Model => ({
  name,
  weight,
  routes,
  providers: ["alpha", "beta"],
  sound: false,
});

/** Sound and broken models in one shape other than chat completions; the second route uses that shape. */
const inShape = (shape: ProviderName): Model[] => [
  { ...well(shape, 6), providers: [shape] },
  { ...well(`${shape}-slow`, 4, { tokens_per_second: 40 }), providers: [shape] },
  { ...well(`${shape}-untold`, 2, { no_usage: true }), providers: [shape], misreports: true },
  {
    ...well(`${shape}-classed`, 2, { classes: { cached: 2, cache_write: 3 } }),
    providers: [shape],
    classed: true,
  },
  { ...well(`${shape}-reads`, 2, { tokens_per_second: 200 }), providers: [shape], files: true },
  { ...well(`${shape}-second`, 3), routes: [{ status: 529 }, {}], providers: [shape, "alpha"] },
  { ...well(`second-${shape}`, 3), routes: [{ status: 429 }, {}], providers: ["beta", shape] },
  { ...ill(`${shape}-breaks`, 2, { reset_after_events: 4 }), providers: [shape] },
  { ...ill(`${shape}-fails`, 2, { error_after_events: 4, error_in_body: true }), providers: [shape] },
  { ...ill(`${shape}-silent`, 1, { hang_after_events: 4 }), providers: [shape] },
  { ...ill(`${shape}-overruns`, 2, { overrun_tokens: 400, tokens_per_second: 2000 }), providers: [shape] },
  { ...ill(`${shape}-nonsense`, 1, { garbage: "html" }), providers: [shape] },
];

const told = (prompt: number, completion: number): Record<string, number> => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
});

export const MODELS: readonly Model[] = [
  well("steady", 30),
  well("slow", 20, { tokens_per_second: 40 }),
  well("drip", 5, { tokens_per_second: 10 }),
  well("late", 6, { latency_ms: 300 }),
  { ...well("switched", 8), switched: "routes" },
  { ...well("research", 1), switched: "entitlement" },
  { ...well("repriced", 8), repriced: true },
  {
    ...well("classed", 6, {
      classes: { cached: 2, cache_write: 3, audio_output: 1 },
      service_tier: "flex",
    }),
    classed: true,
  },
  { ...well("vectors", 0), vectors: true },
  { ...well("reads", 4), files: true },
  {
    ...well("reads-elsewhere", 2),
    routes: [{ status: 529 }, {}],
    providers: ["claude", "converse"],
    files: true,
  },
  { ...well("second-route", 6), routes: [{ status: 503 }, {}] },
  { ...well("silent-about-usage", 3, { no_usage: true }), misreports: true },
  well("doubled", 2, { duplicate_events: true }),
  well("talks-on", 2, { after_done: true }),
  {
    ...well("inflated", 3, { usage: { prompt_tokens: 900_000, completion_tokens: 900_000 } }),
    misreports: true,
  },
  {
    ...well("boasts", 2, { usage_as_is: told(2 ** 53 - 1, 2 ** 53 - 1) }),
    misreports: true,
  },
  {
    ...well("babbles", 2, {
      usage_as_is: { prompt_tokens: 12.5, completion_tokens: -3, total_tokens: "many" },
    }),
    misreports: true,
  },
  {
    ...well("contradicts", 2, {
      usage_as_is: { prompt_tokens: 10, completion_tokens: 500, total_tokens: 10 },
    }),
    misreports: true,
  },
  { ...well("understates", 2, { usage_as_is: told(1, 0) }), misreports: true },
  {
    ...ill("tells-early", 2, { usage_first: true, usage_as_is: told(5, 0), reset_after_events: 6 }),
    misreports: true,
  },
  ill("overruns", 3, { overrun_tokens: 400, tokens_per_second: 2000 }),
  ill("refuses", 4, { status: 429, retry_after_s: 1 }, { status: 503 }),
  ill("resets", 3, { reset_before_headers: true }, {}),
  ill("breaks", 4, { reset_after_events: 4 }),
  ill("fails-at-once", 3, { error_after_events: 0, error_in_body: true }, {}),
  ill("fails-later", 3, { error_after_events: 4, error_in_body: true }),
  ill("falls-silent", 2, { hang_after_events: 4 }),
  ill("never-answers", 1, { hang: true }),
  ill("talks-nonsense", 2, { garbage: "html" }),
  ill("ends-without-finish", 2, { no_finish: true }),
  ...inShape("claude"),
  ...inShape("converse"),
  ...inShape("gemini"),
];

export const upstreamModel = (model: string, route: number): string => `sim-${model}-${route}`;

/** These report usage before the end of their answer: with each chunk, or in its first event (`message_start`). */
const TELL_EARLY: ReadonlySet<ProviderName> = new Set(["gemini", "claude"]);

/**
 * True if a cut call of this upstream model may have reported some of its usage: at least what was delivered counts.
 */
export const tellsEarly = ({ name, routes, providers }: Model, called: string): boolean =>
  routes.some(
    (_, route) => upstreamModel(name, route) === called && TELL_EARLY.has(providers[route] as ProviderName),
  );

/** Research Mode has one model, and keys of its own. */
export const RESEARCH = "research";
/** The embedding model. */
export const VECTORS = "vectors";
export const tierOf = (model: string): "standard" | "research" =>
  model === RESEARCH ? "research" : "standard";

/** The manifests of a model, one per route. */
export function manifestsOf(
  { name, routes, providers, classed = false, files = false, vectors = false }: Model,
  { version, nanoPerToken } = { version: 1, nanoPerToken: NANO_PER_TOKEN },
): ManifestInput[] {
  const rate = formatUsd(nanoUsd(nanoPerToken * 1_000_000n));
  return routes.map((_, route) => ({
    model: name,
    provider: providers[route] as ProviderName,
    upstream_model: upstreamModel(name, route),
    region: "local",
    version,
    tier: tierOf(name),
    context_window: 131_072,
    ...(!vectors && { max_output_tokens: 512, default_output_tokens: 128 }),
    tokenizer: "o200k_base",
    priority: route + 1,
    capabilities: vectors ? { embeddings: true } : { max_n: 1, files },
    ...(files && { file_tokens_max: 1000, file_pages_max: 3 }),
    pricing: {
      currency: "USD",
      input_per_million: rate,
      ...(!vectors && { cached_input_per_million: rate }),
      output_per_million: vectors ? "0" : rate,
      request_minimum: "0.0001",
      ...(classed && classPrices(rate)),
    },
  }));
}

function classPrices(rate: string): Partial<ManifestInput["pricing"]> {
  const rates = { cached_input_per_million: rate, cache_write_per_million: rate, output_per_million: rate };
  const tier = { above_prompt_tokens: 1, input_per_million: rate, ...rates };
  return { cache_write_per_million: rate, tiers: [tier], service_tiers: { flex: "1" } };
}

export const modelNamed = (name: string): Model => {
  const model = MODELS.find((candidate) => candidate.name === name);
  if (model === undefined) throw new Error(`no model ${name}`);
  return model;
};

export const routeIds = ({ name, routes, providers }: Model): string[] =>
  routes.map((_, route) => `${name}@${providers[route]}/local`);

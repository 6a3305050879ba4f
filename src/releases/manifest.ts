// The release manifest (interfaces.md §4): what an operator writes in YAML, signs, and publishes. Parsed
// strictly: an unknown field, a missing price or a contradiction rejects the whole manifest and names the
// field (hardening 146).
import { parse } from "yaml";
import { z } from "zod";
import { type Capabilities, type Capability, PUBLISHED_CAPABILITIES } from "../domain/capabilities.ts";
import { ratesShape } from "../domain/class-shapes.ts";
import { parseUsd } from "../domain/money.ts";
import type { Manifest } from "../domain/release.ts";
import { pricesAgree, RATE_MAX } from "./prices-agree.ts";
import { ReleaseError } from "./release-error.ts";

/** Larger rates and windows would let one hold exceed the 63 bits of a row; nothing real comes near. */
const CONTEXT_WINDOW_MAX = 16_777_216;
/** No provider accepts as many. */
const FILE_PAGES_MAX = 100_000;

const name = z
  .string()
  .max(64)
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    "must begin with a letter or digit and use only letters, digits, . _ -",
  );
const routeId = z
  .string()
  .max(400)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/, "must use only letters, digits and . _ : / @ -");
const modelId = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]*$/, "must use only letters, digits and . _ : / -");
const tokens = z.int().min(1).max(CONTEXT_WINDOW_MAX);
/** Omitted or 0 if there is no output. */
const outputTokens = z.int().min(0).max(CONTEXT_WINDOW_MAX).default(0);
const flag = z.boolean().default(false);

const amount = z
  .string({
    error: ({ input }) =>
      typeof input === "number"
        ? `must be a quoted decimal string such as "${String(input)}": an unquoted number is a binary float, and prices are exact`
        : 'is required: a decimal string in US dollars such as "0.50"',
  })
  .refine((text) => parseUsd(text) !== null, {
    error: "must be a decimal string in US dollars, 0 or more, with at most nine decimals",
  });
const rate = amount.refine((text) => (parseUsd(text) ?? 0n) <= RATE_MAX, {
  error: "must be at most 1000000 US dollars per million tokens",
});

const FACTOR_MAX = 100;
const factor = amount.refine((text) => Number(text) > 0 && Number(text) <= FACTOR_MAX, {
  error: `must be a factor above 0 and at most ${FACTOR_MAX}`,
});
const rates = ratesShape(rate);
const pricing = z.strictObject({
  currency: z.literal("USD"),
  ...rates,
  request_minimum: amount,
  per_call: rate.optional(),
  calls_max: z.int().min(1).max(1000).optional(),
  tiers: z
    .array(z.strictObject({ above_prompt_tokens: tokens, ...rates }))
    .min(1)
    .max(8)
    .optional(),
  service_tiers: z
    .record(z.string(), factor)
    .refine((tiers) => Object.keys(tiers).length > 0, { error: "must name at least one tier" })
    .optional(),
});

const mode = z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/, "must be a short lower-case word");
const reasoning = z.strictObject({ modes: z.array(mode).min(1).max(16), default: mode });

const upTo = (max: number) => z.int().min(1).max(max).default(1);
type CapabilityShape = {
  [C in Capability]: Capabilities[C] extends boolean ? typeof flag : ReturnType<typeof upTo>;
};
const capabilities = z.strictObject(
  Object.fromEntries(
    PUBLISHED_CAPABILITIES.map(([name, { max }]) => [name, max === null ? flag : upTo(max)]),
  ) as CapabilityShape,
);

const writtenSchema = z.strictObject({
  model: modelId,
  provider: name,
  upstream_model: z.string().min(1).max(256),
  region: name,
  route: routeId.optional(),
  version: z.int().min(1),
  tier: z.enum(["standard", "research"]),
  requires_paid: flag,
  context_window: tokens,
  max_output_tokens: outputTokens,
  default_output_tokens: outputTokens,
  pricing,
  reasoning: reasoning.optional(),
  tokenizer: z.enum(["o200k_base", "cl100k_base", "bytes"]).default("bytes"),
  capabilities: capabilities.prefault({}),
  image_tokens_max: z.int().min(1).max(1_000_000).optional(),
  file_tokens_max: tokens.optional(),
  file_pages_max: z.int().min(1).max(FILE_PAGES_MAX).optional(),
  remote_images: flag,
  defaults: z.strictObject({ temperature: z.number().min(0).max(2).optional() }).prefault({}),
  priority: z.int().min(0).max(1_000_000).default(1),
  weight: z.int().min(1).max(1_000_000).default(100),
});
type Written = z.output<typeof writtenSchema>;

/** What an operator may write: defaults and `route` may be omitted. */
export type ManifestInput = z.input<typeof writtenSchema>;

/** Checks a manifest. Throws `ReleaseError("manifest")` with the path of the first invalid field. */
export function parseManifest(value: unknown): Manifest {
  const parsed = writtenSchema.safeParse(value, { error: requiredFields });
  if (!parsed.success) throw schemaError(parsed.error);
  const written = parsed.data;
  for (const [broken, path, message] of agreements(written)) {
    if (broken) throw manifestError(path, message);
  }
  return { ...written, route: written.route ?? `${written.model}@${written.provider}/${written.region}` };
}

/**
 * Reads the YAML of a manifest file. Throws the same error, also for a duplicate key or a broken document.
 */
export function parseManifestYaml(text: string): Manifest {
  return parseManifest(readYaml(text));
}

function readYaml(text: string): unknown {
  try {
    return parse(text, { uniqueKeys: true, maxAliasCount: 0, logLevel: "error" });
  } catch (error) {
    const [line = "unreadable"] = String(error instanceof Error ? error.message : error).split("\n");
    throw new ReleaseError("manifest", `The manifest is not valid YAML: ${line}`);
  }
}

/** Rules between fields: [rule broken, path, sentence]. */
function agreements(written: Written): [boolean, string, string][] {
  const { reasoning: thinking, capabilities: able } = written;
  const modes = thinking?.modes ?? [];
  return [
    ...outputAgrees(written),
    [
      written.max_output_tokens > written.context_window,
      "max_output_tokens",
      "must not be above context_window",
    ],
    [
      written.default_output_tokens > written.max_output_tokens,
      "default_output_tokens",
      "must not be above max_output_tokens",
    ],
    [new Set(modes).size < modes.length, "reasoning.modes", "must not name a mode twice"],
    [
      thinking !== undefined && !modes.includes(thinking.default),
      "reasoning.default",
      "must be one of reasoning.modes",
    ],
    [
      able.images && written.image_tokens_max === undefined,
      "image_tokens_max",
      "is required when capabilities.images is true: images are priced at this flat maximum",
    ],
    [written.remote_images && !able.images, "remote_images", "needs capabilities.images"],
    [
      able.files && written.file_tokens_max === undefined,
      "file_tokens_max",
      "is required when capabilities.files is true: the hold counts each file at this flat maximum",
    ],
    [
      able.files && written.file_pages_max === undefined,
      "file_pages_max",
      "is required when capabilities.files is true: file_tokens_max covers a file of this many pages",
    ],
    [
      (written.file_tokens_max ?? 0) >= written.context_window,
      "file_tokens_max",
      "must be below context_window: no request with a file would fit",
    ],
    ...pricesAgree(written),
  ];
}

/** A release produces text up to a number of tokens, or only vectors. */
function outputAgrees(written: Written): [boolean, string, string][] {
  const { capabilities: able, reasoning: thinking, pricing: published } = written;
  const { embeddings: vectors, ...others } = able;
  const more = Object.values(others).some((offered) => Number(offered) > 1 || offered === true);
  return [
    ...OUTPUT_FIELDS.flatMap((name): [boolean, string, string][] => [
      [!vectors && written[name] === 0, name, "is required, and at least 1"],
      [vectors && written[name] !== 0, name, "must be left out: embeddings have no output tokens"],
    ]),
    [
      vectors && (more || thinking !== undefined),
      "capabilities.embeddings",
      "cannot be combined with other capabilities or reasoning: such a release returns only vectors",
    ],
    [
      vectors && Number(published.output_per_million) !== 0,
      "pricing.output_per_million",
      'must be "0": embeddings have no output tokens',
    ],
  ];
}

const OUTPUT_FIELDS = ["max_output_tokens", "default_output_tokens"] as const;

const requiredFields: z.core.$ZodErrorMap = ({ code, input }) =>
  code === "invalid_type" && input === undefined ? "is required" : undefined;

function schemaError({ issues: [issue] }: z.core.$ZodError): ReleaseError {
  if (issue === undefined) throw new Error("a parse failed without an issue");
  const path = z.core.toDotPath(issue.path);
  if (issue.code !== "unrecognized_keys") return manifestError(path, issue.message);
  const unknown = [path, issue.keys[0] ?? ""].filter((part) => part !== "").join(".");
  return manifestError(unknown, "is not a field of a release manifest");
}

const manifestError = (path: string, message: string): ReleaseError =>
  new ReleaseError(
    "manifest",
    path === "" ? `The manifest: ${message}` : `${path}: ${message}`,
    path || null,
  );

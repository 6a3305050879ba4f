// Turns an entry of a price table into an unsigned manifest in YAML, with the source price next to each
// price. The markup is applied in integers and rounded up to nine decimals. `release sign` accepts everything
// written here.
import { type PublishedPrice, RATE_FIELDS, type RateField, standInOf } from "../../domain/price.ts";
import { type ManifestInput, parseManifest } from "../manifest.ts";
import { ReleaseError } from "../release-error.ts";
import { compareDecimals, type Decimal, larger, printDecimal, product, toNinePlaces } from "./decimal.ts";
import { Damaged, type TableEntry, type TableRates } from "./entry.ts";
import { inert } from "./json.ts";

export interface ProposalTerms {
  markup: Decimal;
  /** The provider's name in the configuration; by default the entry's. */
  provider?: string | undefined;
  version: number;
  region: string;
  /** The maximum cost of an image in tokens; without it images stay off. */
  imageTokensMax: number | null;
  /** The maximum cost of a PDF, and its maximum number of pages; without them PDFs stay off. */
  files: { tokens: number; pages: number } | null;
  /** The source of the prices, and its date. */
  source: string;
}

type Pricing = { currency: "USD" } & PublishedPrice;
type ProposedManifest = Omit<ManifestInput, "pricing"> & { pricing: Pricing };

export interface Proposal {
  manifest: ProposedManifest;
  yaml: string;
}

/** What an agent requests by default (providers.md §6). */
const DEFAULT_OUTPUT_TOKENS = 32_768;

/** Throws `Damaged` for an entry that yields no manifest. */
export function propose(entry: TableEntry, terms: ProposalTerms): Proposal {
  const manifest = manifestOf(entry, terms);
  try {
    parseManifest(manifest);
  } catch (error) {
    if (!(error instanceof ReleaseError)) throw error;
    throw new Damaged(error.message);
  }
  return { manifest, yaml: printYaml(entry, terms, manifest) };
}

const FILE_NAME_MAX = 200;
/** The file name; no part of it can be read as a folder. */
export const fileNameOf = ({ provider, model }: ProposedManifest): string =>
  `${`${provider}__${model}`.replace(/[^A-Za-z0-9._-]/g, "_").slice(0, FILE_NAME_MAX)}.yaml`;

/** In the format of a manifest. */
const priced = (rate: Decimal, markup: Decimal): string => printDecimal(toNinePlaces(product(rate, markup)));

function manifestOf(entry: TableEntry, terms: ProposalTerms): ProposedManifest {
  const { contextWindow, maxOutputTokens, reasoning } = entry;
  const files = entry.files === true ? terms.files : null;
  return {
    model: entry.model.replaceAll("@", "-"),
    provider: terms.provider ?? entry.provider,
    upstream_model: entry.model,
    region: terms.region,
    version: terms.version,
    tier: "standard",
    context_window: contextWindow,
    max_output_tokens: maxOutputTokens,
    default_output_tokens: Math.min(maxOutputTokens, DEFAULT_OUTPUT_TOKENS),
    pricing: pricingOf(entry, terms.markup),
    ...(reasoning !== null && { reasoning }),
    tokenizer: entry.provider === "openai" ? "o200k_base" : "bytes",
    capabilities: {
      tools: entry.tools,
      images: entry.images && terms.imageTokensMax !== null,
      json_schema: entry.jsonSchema,
      ...(files !== null && { files: true }),
    },
    ...(entry.images && terms.imageTokensMax !== null && { image_tokens_max: terms.imageTokensMax }),
    ...(files !== null && { file_tokens_max: files.tokens, file_pages_max: files.pages }),
  };
}

/** Prices with this markup, in the format of a manifest. */
export function pricingOf(entry: TableEntry, markup: Decimal): Pricing {
  const tiers = tiersOf(entry).map(({ above, rates }) => ({
    above_prompt_tokens: above,
    ...(publishedOf(rates, markup) as Required<PublishedBase>),
  }));
  const factors = Object.entries(entry.serviceTiers).map(([tier, factor]) => [tier, printDecimal(factor)]);
  return {
    currency: "USD",
    ...(publishedOf(entry.rates, markup) as Required<PublishedBase>),
    request_minimum: "0",
    ...(tiers.length > 0 && { tiers }),
    ...(factors.length > 0 && { service_tiers: Object.fromEntries(factors) as Record<string, string> }),
  };
}

/** The price of 1,000 paid calls; undefined if the table has none. */
export const callsPrice = ({ perCall }: TableEntry, markup: Decimal): string | undefined =>
  perCall === null ? undefined : priced(perCall, markup);

type PublishedBase = Pick<PublishedPrice, "input_per_million" | "output_per_million">;

const publishedOf = (rates: TableRates, markup: Decimal): Partial<Record<RateField, string>> =>
  Object.fromEntries(
    RATE_FIELDS.flatMap((field) => {
      const rate = rates[field];
      return rate === undefined ? [] : [[field, priced(rate, markup)]];
    }),
  );

/**
 * The tiers that a prompt can reach, each with every class of the base prices: a class that the table omits
 * costs what it costs below the tier, and no less than its stand-in.
 */
function tiersOf({ tiers, rates, contextWindow }: TableEntry): TableEntry["tiers"] {
  return tiers
    .filter(({ above }) => above < contextWindow)
    .map(({ above, rates: reached }) => {
      const whole: TableRates = {};
      for (const field of RATE_FIELDS) {
        const below = rates[field];
        const standIn = standInOf(field);
        const instead = standIn === null ? undefined : whole[standIn];
        const rate = reached[field] ?? (below && instead ? larger(below, instead) : below);
        if (rate !== undefined) whole[field] = rate;
      }
      return { above, rates: whole };
    });
}

function printYaml(entry: TableEntry, terms: ProposalTerms, manifest: ProposedManifest): string {
  const { pricing } = manifest;
  const rates = (exact: TableRates, published: Record<string, unknown>, indent: string): string[] =>
    RATE_FIELDS.flatMap((field) => {
      const rate = exact[field];
      if (rate === undefined) return [];
      return [`${indent}${field}: ${JSON.stringify(published[field])}${madeOf(rate, terms.markup)}`];
    });
  const tiers = tiersOf(entry).flatMap(({ above, rates: exact }, place) => [
    `    - above_prompt_tokens: ${above}`,
    ...rates(exact, { ...pricing.tiers?.[place] }, "      "),
  ]);
  const notes = [...entry.notes, ...openQuestions(entry, terms)];
  return `${[
    `# Proposed from ${inert(terms.source)}: ${inert(entry.listedAs)}`,
    `# Markup ${printDecimal(terms.markup)}. Not signed: compare it with the provider's own price list, then ./tollgate release sign.`,
    ...notes.map((note) => `# - ${note}`),
    `model: ${JSON.stringify(manifest.model)}`,
    `provider: ${JSON.stringify(manifest.provider)}`,
    `upstream_model: ${JSON.stringify(manifest.upstream_model)}`,
    `region: ${JSON.stringify(manifest.region)}`,
    `version: ${manifest.version}`,
    `tier: ${manifest.tier}`,
    `context_window: ${manifest.context_window}`,
    `max_output_tokens: ${manifest.max_output_tokens}`,
    `default_output_tokens: ${manifest.default_output_tokens}`,
    "pricing:",
    "  currency: USD",
    ...rates(entry.rates, { ...pricing }, "  "),
    `  request_minimum: "0"`,
    ...(tiers.length > 0 ? ["  tiers:", ...tiers] : []),
    ...(pricing.service_tiers ? [`  service_tiers: ${flow(pricing.service_tiers)}`] : []),
    ...(manifest.reasoning ? [`reasoning: ${flow(manifest.reasoning)}`] : []),
    `tokenizer: ${manifest.tokenizer}`,
    `capabilities: ${flow(manifest.capabilities)}`,
    ...(manifest.image_tokens_max === undefined ? [] : [`image_tokens_max: ${manifest.image_tokens_max}`]),
    ...(manifest.file_tokens_max === undefined ? [] : [`file_tokens_max: ${manifest.file_tokens_max}`]),
    ...(manifest.file_pages_max === undefined ? [] : [`file_pages_max: ${manifest.file_pages_max}`]),
  ].join("\n")}\n`;
}

/** JSON is valid YAML. */
const flow = (value: unknown): string => JSON.stringify(value).replace(/([:,])(?=["\d[{tf])/g, "$1 ");

function madeOf(rate: Decimal, markup: Decimal): string {
  const exact = product(rate, markup);
  const rounded =
    compareDecimals(exact, toNinePlaces(exact)) === 0 ? "" : `, ${printDecimal(exact)} rounded up`;
  return `  # ${printDecimal(rate)} in the source${rounded}`;
}

/** The operator's decisions, which no table contains. */
function openQuestions(entry: TableEntry, { markup, imageTokensMax, files }: ProposalTerms): string[] {
  const unreached = entry.tiers.filter(({ above }) => above >= entry.contextWindow);
  return [
    ...unreached.map(({ above }) => `the tier above ${above} tokens is left out: no prompt reaches it`),
    ...(entry.images && imageTokensMax === null
      ? [
          "it reads images: capabilities { images: true } needs image_tokens_max, or import it with --image-tokens",
        ]
      : []),
    ...(entry.files === true && files === null
      ? [
          "it reads PDFs: capabilities { files: true } needs file_tokens_max and file_pages_max, or import it with --file-tokens and --file-pages",
        ]
      : []),
    ...(entry.perCall === null
      ? []
      : [
          `1,000 searches cost ${printDecimal(entry.perCall)}: to offer them, set per_call: ` +
            `${JSON.stringify(callsPrice(entry, markup))} and calls_max, which each request then holds`,
        ]),
  ];
}

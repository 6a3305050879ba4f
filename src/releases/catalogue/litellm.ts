// LiteLLM's `model_prices_and_context_window.json`: one object with a member per model, US dollars per token
// as floats.
import { compareDecimals, type Decimal, isZero, larger, perMillion, quotient, shifted } from "./decimal.ts";
import type { RateField } from "../../domain/price.ts";
import {
  assertOnce,
  repetition,
  checkedModel,
  Damaged,
  EFFORTS,
  Entries,
  outputMaximum,
  rateOf,
  reasoningBy,
  type TableReading,
  type TableEntry,
  type TableRates,
  type TableTier,
  tokenCount,
  withoutZeros,
  dearerOutput,
} from "./entry.ts";
import { inert, type Json, itemsOf, memberOf, membersOf, shown, stringOf, stringsOf } from "./json.ts";

/** Its provider names that differ from this project's kinds or names. */
const PROVIDERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    gemini: "google",
    together_ai: "together",
    fireworks_ai: "fireworks",
    bedrock_converse: "bedrock",
    amazon_nova: "amazon",
    meta_llama: "meta",
    cohere_chat: "cohere",
  }),
);
/** Prefixes of model names, besides the provider's own name. */
const PREFIXES = ["vertex_ai/", "amazon-nova/", "bedrock/", "meta_llama/", "gemini/"];
const IN_A_REGION = /^bedrock\/[a-z]{2}(?:-[a-z]+)+-\d\//;

const RATES: Readonly<Record<RateField, string>> = {
  input_per_million: "input_cost_per_token",
  cached_input_per_million: "cache_read_input_token_cost",
  cache_write_per_million: "cache_creation_input_token_cost",
  cache_write_1h_per_million: "cache_creation_input_token_cost_above_1hr",
  audio_input_per_million: "input_cost_per_audio_token",
  image_input_per_million: "input_cost_per_image_token",
  output_per_million: "output_cost_per_token",
  audio_output_per_million: "output_cost_per_audio_token",
};
/** Service tiers that a response can name; `batches` are a separate endpoint. */
const SERVICE_TIERS = ["flex", "priority"];
const ABOVE = /^input_cost_per_token_above_(\d{1,5})k_tokens$/;
const USUAL_EFFORTS = new Set(["low", "medium", "high"]);

/** True if the table has this format. */
export const isLiteLlm = (table: Json): boolean =>
  membersOf(table).some(([, row]) => stringOf(memberOf(row, "litellm_provider")) !== null);

/** Reads its chat models; an unreadable row is reported by name, and the others are still read. */
export function readLiteLlm(table: Json): TableReading {
  const found = new Entries();
  for (const [name, row] of membersOf(table)) {
    if (name === "sample_spec") continue;
    if (memberOf(row, "mode") !== "chat" && repetition(row) === null) continue;
    const provider = providerOf(stringOf(memberOf(row, "litellm_provider")) ?? name.split("/")[0] ?? "");
    found.add({ provider, name }, () => readRow(name, row));
  }
  return found;
}

function readRow(name: string, row: Json): TableEntry {
  assertOnce(row);
  const provider = stringOf(memberOf(row, "litellm_provider"));
  if (provider === null) throw new Damaged("litellm_provider is missing");
  if (IN_A_REGION.test(name))
    throw new Damaged("it is the price of one region: import the model, then set region and prices");
  const notes: string[] = [];
  const rates = withoutZeros(ratesOf(row, "", notes), notes);
  const contextWindow = tokenCount(
    memberOf(row, "max_input_tokens") ?? memberOf(row, "max_tokens"),
    "max_input_tokens",
  );
  const maxOutputTokens = outputMaximum(memberOf(row, "max_output_tokens") ?? memberOf(row, "max_tokens"), {
    field: "max_output_tokens",
    contextWindow,
    notes,
  });
  const ends = stringOf(memberOf(row, "deprecation_date"));
  if (ends !== null) notes.push(`the source says that it ends on ${inert(ends)}`);
  for (const field of ["off_peak_pricing", "cache_creation_input_token_cost_above_12hr"])
    if (memberOf(row, field) !== undefined)
      notes.push(`${field} has a price in the source but no token class here`);
  return {
    provider: providerOf(provider),
    model: checkedModel(modelOf(name, provider)),
    listedAs: name,
    contextWindow,
    maxOutputTokens,
    rates,
    tiers: tiersOf(row, notes),
    perCall: perCallOf(row),
    serviceTiers: serviceTiersOf(row, rates, notes),
    tools: memberOf(row, "supports_function_calling") === true,
    images: memberOf(row, "supports_vision") === true,
    files: memberOf(row, "supports_pdf_input") === true || null,
    jsonSchema: memberOf(row, "supports_response_schema") === true,
    reasoning: reasoningOf(row, notes),
    notes,
  };
}

const providerOf = (listed: string): string =>
  PROVIDERS.get(listed) ?? (listed.startsWith("vertex_ai") ? "vertex" : listed);

function modelOf(name: string, provider: string): string {
  const prefix = [`${provider}/`, ...PREFIXES].find((one) => name.startsWith(one));
  return prefix === undefined ? name : name.slice(prefix.length);
}

/** `suffix` names a tier: "_above_272k_tokens", "_flex". */
function ratesOf(row: Json, suffix: string, notes: string[]): TableRates {
  const rates: TableRates = {};
  for (const [field, listed] of Object.entries(RATES) as [RateField, string][]) {
    const perToken = rateOf(memberOf(row, listed + suffix), listed + suffix);
    if (perToken !== undefined) rates[field] = perMillion(perToken);
  }
  const thinking = rateOf(
    memberOf(row, `output_cost_per_reasoning_token${suffix}`),
    "output_cost_per_reasoning_token",
  );
  return dearerOutput(rates, thinking && perMillion(thinking), notes);
}

function tiersOf(row: Json, notes: string[]): TableTier[] {
  const named = membersOf(row).flatMap(([field]) => {
    const above = ABOVE.exec(field)?.[1];
    return above === undefined ? [] : [Number(above)];
  });
  const byField = named.map((thousands) => ({
    above: thousands * 1000,
    rates: withoutZeros(ratesOf(row, `_above_${thousands}k_tokens`, notes), notes, `above ${thousands}k: `),
  }));
  const byRange = itemsOf(memberOf(row, "tiered_pricing")).flatMap((tier) => {
    const [from] = itemsOf(memberOf(tier, "range"));
    if (shown(from) === "0") return [];
    return [
      {
        above: tokenCount(from, "tiered_pricing.range"),
        rates: withoutZeros(ratesOf(tier, "", notes), notes),
      },
    ];
  });
  return [...byField, ...byRange].toSorted((a, b) => a.above - b.above);
}

function perCallOf(row: Json): Decimal | null {
  const field = "search_context_cost_per_query";
  const prices = membersOf(memberOf(row, field)).flatMap(
    ([size, value]) => rateOf(value, `${field}.${size}`) ?? [],
  );
  const [first, ...others] = prices;
  const dearest = first === undefined ? null : others.reduce(larger, first);
  return dearest === null || isZero(dearest) ? null : shifted(dearest, 3);
}

/** One factor per tier: the largest of its classes if they differ. */
function serviceTiersOf(row: Json, rates: TableRates, notes: string[]): Record<string, Decimal> {
  const found = SERVICE_TIERS.flatMap((tier) => {
    const {
      input_per_million: input,
      output_per_million: output,
      ...others
    } = ratesOf(row, `_${tier}`, notes);
    if (input === undefined || output === undefined || isZero(input) || isZero(output)) return [];
    const factors = Object.entries({
      input_per_million: input,
      output_per_million: output,
      ...others,
    }).flatMap(([field, rate]) => {
      const plain = rates[field as RateField];
      return plain === undefined ? [] : (quotient(rate, plain) ?? []);
    });
    const [first, ...rest] = factors;
    if (first === undefined) return [];
    const largest = rest.reduce(larger, first);
    if (rest.some((one) => compareDecimals(one, first) !== 0))
      notes.push(`${tier}: its classes have different factors in the source, the largest is used`);
    return [[tier, largest] as const];
  });
  return Object.fromEntries(found);
}

function reasoningOf(row: Json, notes: string[]): TableEntry["reasoning"] {
  if (memberOf(row, "supports_reasoning") !== true) return null;
  const told = (effort: string): Json => memberOf(row, `supports_${effort}_reasoning_effort`);
  const levels = stringsOf(memberOf(row, "reasoning_effort_levels"));
  const flagged = EFFORTS.some((effort) => told(effort) !== undefined);
  const modes =
    levels.length > 0
      ? EFFORTS.filter((effort) => levels.includes(effort))
      : EFFORTS.filter((effort) => flagged && (told(effort) ?? USUAL_EFFORTS.has(effort)) === true);
  return reasoningBy(modes, stringOf(memberOf(row, "default_reasoning_effort")), notes);
}

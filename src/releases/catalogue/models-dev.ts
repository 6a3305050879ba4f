// models.dev's `api.json`: a member per provider, whose `models` has a member per model; US dollars per
// million tokens as floats.
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
import { type Json, itemsOf, memberOf, membersOf, stringOf, stringsOf } from "./json.ts";

import { isTwice } from "./twice.ts";

/** Its provider names that differ from this project's kinds or names. */
const PROVIDERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "amazon-bedrock": "bedrock",
    "google-vertex": "vertex",
    "google-vertex-anthropic": "vertex",
    togetherai: "together",
    "fireworks-ai": "fireworks",
    moonshotai: "moonshot",
    llama: "meta",
  }),
);

const RATES: Partial<Record<RateField, string>> = {
  input_per_million: "input",
  cached_input_per_million: "cache_read",
  cache_write_per_million: "cache_write",
  audio_input_per_million: "input_audio",
  output_per_million: "output",
  audio_output_per_million: "output_audio",
};
const OLD_TIER = 200_000;

/** True if the table has this format. */
export const isModelsDev = (table: Json): boolean =>
  membersOf(table).some(([, provider]) => membersOf(memberOf(provider, "models")).length > 0);

/**
 * Reads its models that output text; an unreadable row is reported by name, and the others are still read.
 */
export function readModelsDev(table: Json): TableReading {
  const found = new Entries();
  for (const [id, provider] of membersOf(table)) {
    const models = memberOf(provider, "models");
    if (isTwice(provider) || isTwice(models))
      found.add({ provider: PROVIDERS.get(id) ?? id, name: id }, () => {
        throw new Damaged("its models appear twice in the table");
      });
    for (const [model, row] of membersOf(models)) {
      const writes = stringsOf(memberOf(memberOf(row, "modalities"), "output")).includes("text");
      if (!writes && repetition(row) === null) continue;
      found.add({ provider: PROVIDERS.get(id) ?? id, name: `${id}/${model}` }, () =>
        readRow({ id, model, row }),
      );
    }
  }
  return found;
}

interface Row {
  id: string;
  model: string;
  row: Json;
}

function readRow({ id, model, row }: Row): TableEntry {
  assertOnce(row);
  const cost = memberOf(row, "cost");
  if (cost === undefined) throw new Damaged("cost is missing");
  const notes: string[] = [];
  const contextWindow = tokenCount(memberOf(memberOf(row, "limit"), "context"), "limit.context");
  const maxOutputTokens = outputMaximum(memberOf(memberOf(row, "limit"), "output"), {
    field: "limit.output",
    contextWindow,
    notes,
  });
  if (memberOf(row, "status") === "deprecated") notes.push("the source calls it deprecated");
  const tools = memberOf(row, "tool_call");
  const inputs = stringsOf(memberOf(memberOf(row, "modalities"), "input"));
  return {
    provider: PROVIDERS.get(id) ?? id,
    model: checkedModel(model),
    listedAs: `${id}/${model}`,
    contextWindow,
    maxOutputTokens,
    rates: withoutZeros(ratesOf(cost, notes), notes),
    tiers: tiersOf(cost, notes),
    perCall: null,
    serviceTiers: {},
    tools: tools === true || memberOf(tools, "supported") === true,
    images: inputs.includes("image"),
    files: inputs.includes("pdf"),
    jsonSchema: memberOf(row, "structured_output") === true,
    reasoning: reasoningOf(row, notes),
    notes,
  };
}

function ratesOf(cost: Json, notes: string[]): TableRates {
  const rates: TableRates = {};
  for (const [field, listed] of Object.entries(RATES) as [RateField, string][]) {
    const rate = rateOf(memberOf(cost, listed), `cost.${listed}`);
    if (rate !== undefined) rates[field] = rate;
  }
  const thinking = rateOf(memberOf(cost, "reasoning"), "cost.reasoning");
  return dearerOutput(rates, thinking, notes);
}

/** `tiers`, or the single tier of older tables. */
function tiersOf(cost: Json, notes: string[]): TableTier[] {
  const tiers = itemsOf(memberOf(cost, "tiers"));
  const old = memberOf(cost, "context_over_200k");
  if (tiers.length === 0)
    return old === undefined
      ? []
      : [{ above: OLD_TIER, rates: withoutZeros(ratesOf(old, notes), notes, "above 200k: ") }];
  return tiers
    .map((tier) => {
      const kind = memberOf(tier, "tier");
      if (stringOf(memberOf(kind, "type")) !== "context")
        throw new Damaged("cost.tiers has a tier that is not a context tier");
      const above = tokenCount(memberOf(kind, "size"), "cost.tiers.size");
      return { above, rates: withoutZeros(ratesOf(tier, notes), notes, `above ${above}: `) };
    })
    .toSorted((a, b) => a.above - b.above);
}

function reasoningOf(row: Json, notes: string[]): TableEntry["reasoning"] {
  if (memberOf(row, "reasoning") !== true) return null;
  const efforts = itemsOf(memberOf(row, "reasoning_options")).find(
    (option) => memberOf(option, "type") === "effort",
  );
  const modes = [...new Set(stringsOf(memberOf(efforts, "values")))].filter((effort) =>
    EFFORTS.includes(effort),
  );
  return reasoningBy(modes, stringOf(memberOf(efforts, "default")), notes);
}

// The small table shipped with this program, so that prices can be proposed without a network: exact decimal
// strings per million tokens, named as in a manifest. `scripts/catalogue.ts` writes it from a LiteLLM table.
import { RATE_FIELDS } from "../../domain/price.ts";
import { type Decimal, printDecimal, readDecimal } from "./decimal.ts";
import {
  checkedModel,
  Damaged,
  Entries,
  type TableReading,
  type TableEntry,
  type TableRates,
  tokenCount,
  withoutZeros,
} from "./entry.ts";
import { isMembered, type Json, itemsOf, memberOf, membersOf, shown, stringOf, stringsOf } from "./json.ts";

/** True if the table has this format. */
export const isSnapshot = (table: Json): boolean => Array.isArray(memberOf(table, "models"));

/** Checked like any other table: it may have been edited. */
export function readSnapshot(table: Json): TableReading {
  const found = new Entries();
  for (const row of itemsOf(memberOf(table, "models"))) {
    const name = stringOf(memberOf(row, "listed_as")) ?? "a row without a name";
    found.add({ provider: stringOf(memberOf(row, "provider")) ?? "", name }, () => readRow(row));
  }
  return found;
}

function readRow(row: Json): TableEntry {
  const notes = stringsOf(memberOf(row, "notes"));
  const perCall = memberOf(row, "per_call");
  const reasoning = memberOf(row, "reasoning");
  const files = memberOf(row, "files");
  const modes = stringsOf(memberOf(reasoning, "modes"));
  return {
    provider: named(row, "provider"),
    model: checkedModel(named(row, "model")),
    listedAs: named(row, "listed_as"),
    contextWindow: tokenCount(memberOf(row, "context_window"), "context_window"),
    maxOutputTokens: tokenCount(memberOf(row, "max_output_tokens"), "max_output_tokens"),
    rates: withoutZeros(ratesOf(row), notes),
    tiers: itemsOf(memberOf(row, "tiers")).map((tier) => ({
      above: tokenCount(memberOf(tier, "above_prompt_tokens"), "above_prompt_tokens"),
      rates: withoutZeros(ratesOf(tier), notes),
    })),
    perCall: perCall === undefined ? null : exact(perCall, "per_call"),
    serviceTiers: Object.fromEntries(
      membersOf(memberOf(row, "service_tiers")).map(([tier, factor]) => [tier, exact(factor, tier)]),
    ),
    tools: memberOf(row, "tools") === true,
    images: memberOf(row, "images") === true,
    files: typeof files === "boolean" ? files : null,
    jsonSchema: memberOf(row, "json_schema") === true,
    reasoning: isMembered(reasoning) ? { modes, default: named(reasoning, "default") } : null,
    notes,
  };
}

function named(row: Json, field: string): string {
  const text = stringOf(memberOf(row, field));
  if (text === null) throw new Damaged(`${field} is missing`);
  return text;
}

const ratesOf = (row: Json): TableRates =>
  Object.fromEntries(
    RATE_FIELDS.flatMap((field) => {
      const rate = memberOf(row, field);
      return rate === undefined ? [] : [[field, exact(rate, field)]];
    }),
  );

function exact(value: Json, field: string): Decimal {
  const amount = readDecimal(stringOf(value) ?? "");
  if (amount === null) throw new Damaged(`${field} is ${shown(value)}, which is not a price`);
  return amount;
}

/** An entry in the format of the snapshot. */
export const snapshotRow = (entry: TableEntry): Record<string, unknown> => ({
  provider: entry.provider,
  model: entry.model,
  listed_as: entry.listedAs,
  context_window: entry.contextWindow,
  max_output_tokens: entry.maxOutputTokens,
  ...printed(entry.rates),
  ...(entry.tiers.length > 0 && {
    tiers: entry.tiers.map(({ above, rates }) => ({ above_prompt_tokens: above, ...printed(rates) })),
  }),
  ...(entry.perCall !== null && { per_call: printDecimal(entry.perCall) }),
  ...(Object.keys(entry.serviceTiers).length > 0 && { service_tiers: printed(entry.serviceTiers) }),
  tools: entry.tools,
  images: entry.images,
  ...(entry.files !== null && { files: entry.files }),
  json_schema: entry.jsonSchema,
  ...(entry.reasoning !== null && { reasoning: entry.reasoning }),
  ...(entry.notes.length > 0 && { notes: entry.notes }),
});

const printed = (amounts: Readonly<Record<string, Decimal | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(amounts).flatMap(([name, amount]) =>
      amount === undefined ? [] : [[name, printDecimal(amount)]],
    ),
  );

// One model of one provider as a price table tells of it, whatever the table's format: exact prices by the classes of a
// release (providers.md §4), windows, and what it offers. Nothing is guessed: what a table says oddly is skipped by name.
import { RATE_FIELDS, type RateField, standInOf } from "../../domain/price.ts";
import { compareDecimals, type Decimal, isZero, larger, printDecimal } from "./decimal.ts";
import { decimalOf, inert, type Json, shown } from "./json.ts";
import { isTwice, repeatedName } from "./twice.ts";

/** US dollars per million tokens. */
export type TableRates = Partial<Record<RateField, Decimal>>;

export interface TableTier {
  above: number;
  rates: TableRates;
}

export interface TableEntry {
  /** As this project names the provider's kind, where it has one; else as the table does. */
  provider: string;
  /** What the provider calls it. */
  model: string;
  /** Where it stands in the table. */
  listedAs: string;
  contextWindow: number;
  maxOutputTokens: number;
  rates: TableRates;
  tiers: TableTier[];
  /** US dollars per 1,000 web searches and the like. */
  perCall: Decimal | null;
  /** A factor on every rate, by the tier of service. */
  serviceTiers: Readonly<Record<string, Decimal>>;
  tools: boolean;
  images: boolean;
  /** Whether it reads PDFs; null where the table does not tell. */
  files: boolean | null;
  jsonSchema: boolean;
  reasoning: { modes: string[]; default: string } | null;
  /** What the table says and a release cannot, or not without a decision. */
  notes: string[];
}

/** Why one entry is left out; the others go on. */
export class Damaged extends Error {}

const TOKENS_MAX = 16_777_216;

/** A rate of a table; undefined where it says none. Throws `Damaged` for what is no price. */
export function rateOf(value: Json, field: string): Decimal | undefined {
  if (value === undefined || value === null) return undefined;
  const rate = decimalOf(value);
  if (rate === null) throw new Damaged(`${field} is ${shown(value)}, which is not a price`);
  return rate;
}

/** A number of tokens. Throws `Damaged`. */
export function tokenCount(value: Json, field: string): number {
  if (value === undefined || value === null) throw new Damaged(`${field} is missing`);
  const count = decimalOf(value);
  const tokens = count === null ? Number.NaN : Number(printDecimal(count));
  if (!Number.isSafeInteger(tokens) || tokens < 1 || tokens > TOKENS_MAX)
    throw new Damaged(`${field} is ${shown(value)}: it must be a number from 1 to ${TOKENS_MAX}`);
  return tokens;
}

/** The most that an answer can have, which is never more than the window. Throws `Damaged`. */
export function outputMaximum(
  value: Json,
  { field, contextWindow, notes }: { field: string; contextWindow: number; notes: string[] },
): number {
  const told = tokenCount(value, field);
  if (told > contextWindow) notes.push(`${field} is ${told} in the source, more than its window`);
  return Math.min(told, contextWindow);
}

/** Output at the rate of thoughts where that is dearer: a release prices both alike. */
export function dearerOutput(rates: TableRates, thinking: Decimal | undefined, notes: string[]): TableRates {
  const { output_per_million: output } = rates;
  if (thinking === undefined || output === undefined) return rates;
  if (compareDecimals(thinking, output) > 0)
    notes.push(`output costs ${printDecimal(output)} without reasoning: the higher rate is used for both`);
  return { ...rates, output_per_million: larger(thinking, output) };
}

/** The efforts that a table may name, the least first. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** How a model that reasons is asked to; null, with a note, where the table does not say it. */
export function reasoningBy(
  modes: string[],
  preferred: string | null,
  notes: string[],
): TableEntry["reasoning"] {
  const fallback = preferred ?? "medium";
  const [first] = modes;
  if (first !== undefined) return { modes, default: modes.includes(fallback) ? fallback : first };
  notes.push("it reasons, but the source does not say with which efforts: add reasoning { modes, default }");
  return null;
}

const MODEL = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,199}$/;

/** Why nobody knows what a row says: it stands twice, or a name does so in it. Null where neither does. */
export function repetition(row: Json): string | null {
  if (isTwice(row)) return "it appears twice in the table";
  const name = repeatedName(row);
  return name === null ? null : `${inert(name)} appears twice in it`;
}

/** Throws `Damaged` for a row of which nobody knows what it says. */
export function assertOnce(row: Json): void {
  const reason = repetition(row);
  if (reason !== null) throw new Damaged(reason);
}

const PROVIDER = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Throws `Damaged` for a name that no provider has: it is printed, and becomes part of a file's name. */
function assertProvider(provider: string): void {
  if (!PROVIDER.test(provider))
    throw new Damaged("its provider's name has characters that are not allowed in one");
}

/** Throws `Damaged` for a name that no manifest or no file should bear. */
export function checkedModel(model: string): string {
  if (!MODEL.test(model) || model.split(/[/]/).some((part) => part === "" || /^\.+$/.test(part)))
    throw new Damaged("its name has characters that are not allowed in one");
  return model;
}

/**
 * Rates without zeros. A table writes 0 for what is free, for what is not billed apart and for what nobody knew: a class that
 * is left out costs what stands in its place. Throws `Damaged` without a price for input and output.
 */
export function withoutZeros(rates: TableRates, notes: string[], where = ""): TableRates {
  for (const field of ["input_per_million", "output_per_million"] as const) {
    const rate = rates[field];
    if (rate === undefined) throw new Damaged(`${where}${field} is missing`);
    if (isZero(rate)) throw new Damaged(`${where}${field} is 0: write its manifest by hand if it is free`);
  }
  const given = RATE_FIELDS.flatMap((field) => {
    const rate = rates[field];
    if (rate === undefined) return [];
    if (!isZero(rate)) return [[field, rate] as const];
    notes.push(`${where}${field} is 0 in the source: left out, so ${standInOf(field)} applies`);
    return [];
  });
  return Object.fromEntries(given);
}

interface Skipped {
  provider: string;
  name: string;
  reason: string;
}

/** What was read of a table. */
export interface TableReading {
  entries: readonly TableEntry[];
  /** Chat models that were left out, and why. */
  skipped: readonly Skipped[];
}

/** Takes entries one by one: a damaged one is left out by name, of two of one name the first stays. */
export class Entries implements TableReading {
  readonly entries: TableEntry[] = [];
  readonly skipped: Skipped[] = [];
  readonly #byName = new Map<string, TableEntry>();

  add({ provider, name }: { provider: string; name: string }, read: () => TableEntry): void {
    try {
      assertProvider(provider);
      this.#keep(read());
    } catch (error) {
      if (!(error instanceof Damaged)) throw error;
      this.skipped.push({ provider: inert(provider), name: inert(name), reason: error.message });
    }
  }

  #keep(entry: TableEntry): void {
    const name = `${entry.provider} ${entry.model}`;
    const same = this.#byName.get(name);
    if (same !== undefined && JSON.stringify(facts(same)) !== JSON.stringify(facts(entry)))
      throw new Damaged(`its terms for ${name} differ from those of ${inert(same.listedAs)}`);
    if (same !== undefined) return;
    this.#byName.set(name, entry);
    this.entries.push(entry);
  }
}

const facts = ({ rates, tiers, contextWindow, maxOutputTokens }: TableEntry): unknown => [
  contextWindow,
  maxOutputTokens,
  ...[rates, ...tiers.map((tier) => tier.rates)].map((one) =>
    RATE_FIELDS.map((field) => (one[field] === undefined ? null : printDecimal(one[field]))),
  ),
];

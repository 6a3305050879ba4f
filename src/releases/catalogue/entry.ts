// One model of one provider as a price table describes it, whatever the table's format: exact prices by the
// classes of a release (providers.md §4), windows, and capabilities. Nothing is guessed: an entry with odd
// values is skipped by name.
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
  /** This project's name for the provider's kind, if it has one; otherwise the table's. */
  provider: string;
  /** The provider's name for it. */
  model: string;
  /** Its place in the table. */
  listedAs: string;
  contextWindow: number;
  maxOutputTokens: number;
  rates: TableRates;
  tiers: TableTier[];
  /** US dollars per 1,000 web searches or similar calls. */
  perCall: Decimal | null;
  /** A factor on every rate, by service tier. */
  serviceTiers: Readonly<Record<string, Decimal>>;
  tools: boolean;
  images: boolean;
  /** Whether it reads PDFs; null if the table does not say. */
  files: boolean | null;
  jsonSchema: boolean;
  reasoning: { modes: string[]; default: string } | null;
  /** Statements of the table that a release cannot express, or only after a decision. */
  notes: string[];
}

/** Why one entry is skipped; the others are still read. */
export class Damaged extends Error {}

const TOKENS_MAX = 16_777_216;

/** A rate of a table; undefined if there is none. Throws `Damaged` if it is not a price. */
export function rateOf(value: Json, field: string): Decimal | undefined {
  if (value === undefined || value === null) return undefined;
  const rate = decimalOf(value);
  if (rate === null) throw new Damaged(`${field} is ${shown(value)}, which is not a price`);
  return rate;
}

/** A number of tokens. Throws `Damaged` otherwise. */
export function tokenCount(value: Json, field: string): number {
  if (value === undefined || value === null) throw new Damaged(`${field} is missing`);
  const count = decimalOf(value);
  const tokens = count === null ? Number.NaN : Number(printDecimal(count));
  if (!Number.isSafeInteger(tokens) || tokens < 1 || tokens > TOKENS_MAX)
    throw new Damaged(`${field} is ${shown(value)}: it must be a number from 1 to ${TOKENS_MAX}`);
  return tokens;
}

/** The maximum output, capped at the window. Throws `Damaged`. */
export function outputMaximum(
  value: Json,
  { field, contextWindow, notes }: { field: string; contextWindow: number; notes: string[] },
): number {
  const told = tokenCount(value, field);
  if (told > contextWindow) notes.push(`${field} is ${told} in the source, more than its window`);
  return Math.min(told, contextWindow);
}

/** Raises the output rate to the reasoning rate if that is higher: a release has one price for both. */
export function dearerOutput(rates: TableRates, thinking: Decimal | undefined, notes: string[]): TableRates {
  const { output_per_million: output } = rates;
  if (thinking === undefined || output === undefined) return rates;
  if (compareDecimals(thinking, output) > 0)
    notes.push(`output costs ${printDecimal(output)} without reasoning: the higher rate is used for both`);
  return { ...rates, output_per_million: larger(thinking, output) };
}

/** The efforts that a table may name, lowest first. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The reasoning modes of a model; null, with a note, if the table does not name them. */
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

/** Why a row is ambiguous: it, or a name inside it, occurs twice. Null otherwise. */
export function repetition(row: Json): string | null {
  if (isTwice(row)) return "it appears twice in the table";
  const name = repeatedName(row);
  return name === null ? null : `${inert(name)} appears twice in it`;
}

/** Throws `Damaged` for an ambiguous row. */
export function assertOnce(row: Json): void {
  const reason = repetition(row);
  if (reason !== null) throw new Damaged(reason);
}

const PROVIDER = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Throws `Damaged` for an impossible provider name: it is printed, and becomes part of a file name. */
function assertProvider(provider: string): void {
  if (!PROVIDER.test(provider))
    throw new Damaged("its provider's name has characters that are not allowed in one");
}

/** Throws `Damaged` for a name that no manifest and no file should have. */
export function checkedModel(model: string): string {
  if (!MODEL.test(model) || model.split(/[/]/).some((part) => part === "" || /^\.+$/.test(part)))
    throw new Damaged("its name has characters that are not allowed in one");
  return model;
}

/**
 * Rates without zeros. A table writes 0 for free, for not billed separately and for unknown; an omitted class
 * costs what its stand-in costs. Throws `Damaged` without a price for input and output.
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

/** The result of reading a table. */
export interface TableReading {
  entries: readonly TableEntry[];
  /** Chat models that were skipped, and why. */
  skipped: readonly Skipped[];
}

/** Collects entries: a damaged one is skipped by name; of two with the same name the first is kept. */
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

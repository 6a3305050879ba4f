// Finds the entries of a price table for the names of a provider and a model, and suggests similar names.
import { CatalogueError } from "./catalogue-error.ts";
import type { TableEntry } from "./entry.ts";
import { inert } from "./json.ts";
import type { PriceTable } from "./table.ts";

export interface Wanted {
  provider?: string | undefined;
  model?: string | undefined;
}

const NEAR = 5;

/** Throws `CatalogueError` if there are none, naming similar ones. */
export function findEntries(table: PriceTable, { provider, model }: Wanted): TableEntry[] {
  const ofProvider = table.entries.filter((entry) => provider === undefined || entry.provider === provider);
  const found = ofProvider.filter(
    (entry) => model === undefined || entry.model === model || entry.listedAs === model,
  );
  if (found.length > 0) return found;
  const skipped = table.skipped.filter((one) => (provider ?? one.provider) === one.provider);
  const meant = skipped.find(
    ({ name }) => model !== undefined && (name === model || name.endsWith(`/${model}`)),
  );
  if (meant !== undefined)
    throw new CatalogueError(
      `${table.source} has ${inert(meant.name)}, but it cannot be imported: ${meant.reason}.`,
      BY_HAND,
    );
  if (ofProvider.length === 0) throw noneOf(table, provider, skipped);
  if (model === undefined) return found;
  throw new CatalogueError(
    `${table.source} has no chat model ${inert(model)}${provider === undefined ? "" : ` of ${inert(provider)}`}.`,
    `Similar names: ${near(model, [...new Set(ofProvider.map((entry) => entry.model))]).join(", ")}. Newer tables: --from models.dev or --from litellm.`,
  );
}

const BY_HAND = "Write its manifest by hand (docs/releases.md), or name another table with --from.";

/** A provider has no entries: either all were skipped, or it is not in the table. */
function noneOf(
  table: PriceTable,
  provider: string | undefined,
  skipped: PriceTable["skipped"],
): CatalogueError {
  const [first] = skipped;
  const whose = provider === undefined ? "its" : `${inert(provider)}'s`;
  if (first !== undefined)
    return new CatalogueError(
      `${table.source}: none of ${whose} ${skipped.length} chat models can be imported; ${first.name}: ${first.reason}.`,
      BY_HAND,
    );
  const providers = [...new Set(table.entries.map((entry) => entry.provider))];
  return new CatalogueError(
    `${table.source} has no chat model of a provider ${inert(provider ?? "")}.`,
    provider === undefined || providers.length === 0
      ? "Name another table with --from."
      : `It has: ${near(provider, providers).join(", ")}.`,
  );
}

/** Similar names, the nearest first. */
function near(name: string, names: readonly string[]): string[] {
  const wanted = name.slice(0, 100).toLowerCase();
  return names
    .map((one) => ({ one, distance: one.includes(wanted) ? 0 : changes(wanted, one.toLowerCase()) }))
    .toSorted((a, b) => a.distance - b.distance || (a.one < b.one ? -1 : 1))
    .slice(0, NEAR)
    .map(({ one }) => one);
}

/** The edit distance: letters changed, added or left out. */
function changes(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min(
          (next[j - 1] ?? 0) + 1,
          (row[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
        ),
      );
    row = next;
  }
  return row[b.length] ?? 0;
}

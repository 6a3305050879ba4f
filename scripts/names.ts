// Checks "one exported name, one meaning" (house.md §2): a name that several files of src/ export can be mistaken for
// one thing. Twins of the two stores mean the same on purpose: `ledger/sqlite/sweep.ts`, `ledger/postgres/sweep.ts`.
import { Glob } from "bun";

/** The number of names shared today. Lower it whenever there are fewer. */
const SHARED_AT_MOST = 19;

const EXPORTED = /^export (?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm;
const twin = (path: string): string => path.replace(/\b(?:sqlite|postgres)[/-]/, "");

const homes = new Map<string, string[]>();
for (const path of new Glob("src/**/*.ts").scanSync(".")) {
  for (const [, name = ""] of (await Bun.file(path).text()).matchAll(EXPORTED))
    homes.set(name, [...(homes.get(name) ?? []), path]);
}
const shared = [...homes].filter(([, paths]) => new Set(paths.map(twin)).size > 1);
if (shared.length > SHARED_AT_MOST)
  for (const [name, paths] of shared.toSorted(([a], [b]) => a.localeCompare(b)))
    console.log(`${name}: ${paths.toSorted().join(", ")}`);
console.log(`${shared.length} exported names are shared, ${SHARED_AT_MOST} may be`);
process.exit(shared.length > SHARED_AT_MOST ? 1 : 0);

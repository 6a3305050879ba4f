// `npm run bench:migrations -- [--millions 1] [--store postgres|sqlite]`: runs every migration on a store with that
// many million requests, and measures how long it takes and how long traffic waits for a table meanwhile. With ten
// million a run takes about seven minutes and 20 GB; docs/operations.md has the results of one.
import { parseArgs } from "node:util";
import { printMeasured } from "./measured.ts";
import { measurePostgres } from "./postgres.ts";
import { measureSqlite } from "./sqlite.ts";

const MILLION = 1_000_000;
const { values } = parseArgs({
  options: { millions: { type: "string", default: "1" }, store: { type: "string", default: "postgres" } },
});
const millions = Number(values.millions);
if (!(millions > 0 && millions <= 100) || !["postgres", "sqlite"].includes(values.store)) {
  console.error("npm run bench:migrations -- [--millions N, at most 100] [--store postgres|sqlite]");
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

const requests = Math.floor(millions * MILLION);
const tell = (line: string): void => console.error(line);
const measured =
  values.store === "sqlite" ? measureSqlite(requests, tell) : await measurePostgres(requests, tell);
console.log(`${values.store}, ${requests} requests`);
console.log(printMeasured(measured));

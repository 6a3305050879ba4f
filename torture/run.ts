// `npm run torture -- [--minutes N] [--seed S] [--json]` plays one run against real processes, and with `--store
// postgres [--replicas 3] [--standby] [--pgbouncer]` against several gateways on one database; `npm run torture --
// --mutants [NAME…]` proves that the harness finds known bugs. See docs/torture.md.
import { parseArgs } from "node:util";
import { MUTANTS } from "./mutants/list.ts";
import { runMutants } from "./mutants/run.ts";
import { printJson, printTable } from "./report.ts";
import { countViolations, torture } from "./torture.ts";
import type { Database } from "./world.ts";

const PROGRESS_EVERY_MS = 1_000;

const USAGE = `npm run torture -- [--minutes N] [--seed S] [--store sqlite] [--json]
npm run torture -- --store postgres [--replicas 3] [--standby] [--pgbouncer] [--minutes N] [--seed S] [--json]
npm run torture -- --mutants [NAME…] [--store sqlite|postgres] [--seed S] [--json]
The mutants: ${MUTANTS.map(({ name }) => name).join(", ")}.`;
const { values, positionals } = options();

/** Checks the options before a run of minutes begins. */
function options() {
  const flag = { type: "boolean", default: false } as const;
  try {
    const asked = parseArgs({
      allowPositionals: true,
      options: {
        minutes: { type: "string", default: "1" },
        seed: { type: "string" },
        mutants: flag,
        json: flag,
        store: { type: "string", default: "sqlite" },
        replicas: { type: "string", default: "3" },
        standby: flag,
        pgbouncer: flag,
        help: flag,
      },
    });
    if (asked.positionals.length > 0 && !asked.values.mutants)
      throw new Error(`${asked.positionals.join(" ")}: names are of mutants, with --mutants.`);
    if (!asked.values.help) return asked;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    process.exit(2);
  }
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

function number(name: string, text: string, fits: (value: number) => boolean): number {
  const value = Number(text);
  if (text.trim() !== "" && fits(value)) return value;
  console.error(`--${name} ${text} is not a number that fits.`);
  process.exit(2);
}

const seed = number(
  "seed",
  values.seed ?? String(Math.floor(Math.random() * 2 ** 31)),
  (value) => Number.isInteger(value) && value >= 0 && value < 2 ** 32,
);
process.exit(
  values.mutants
    ? await runMutants({ seed, names: positionals, json: values.json, store: values.store })
    : await runOnce(),
);

async function runOnce(): Promise<number> {
  const minutes = number("minutes", values.minutes, (value) => value > 0 && value <= 24 * 60);
  const database = databaseWanted();
  console.error(`torture: seed ${seed}, ${minutes} minutes`);
  let saidAtMs = -PROGRESS_EVERY_MS;
  const report = await torture({
    seed,
    ms: minutes * 60_000,
    keep: true,
    fairness: true,
    ...(database !== null && { database }),
    progress: (playedMs, { history }) => {
      if (playedMs - saidAtMs < PROGRESS_EVERY_MS) return;
      saidAtMs = playedMs;
      const strokes = [...history.strokes.values()].reduce((sum, count) => sum + count, 0);
      const line = `${(playedMs / 1000).toFixed(0)} s  ${history.exchanges.length} requests  ${strokes} strokes  ${history.accidents.length} accidents`;
      process.stderr.write(process.stderr.isTTY ? `\r${line}\u001b[K` : `${line}\n`);
    },
  });
  if (process.stderr.isTTY) process.stderr.write("\n");
  console.log(values.json ? printJson(report) : printTable(report));
  return countViolations(report) === 0 ? 0 : 1;
}

function databaseWanted(): Database | null {
  const { store, replicas, standby, pgbouncer } = values;
  if (store === "postgres") {
    const fits = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= 16;
    return { gateways: number("replicas", replicas, fits), standby, pgbouncer };
  }
  if (store === "sqlite" && !standby && !pgbouncer) return null;
  console.error(
    store === "sqlite"
      ? "--standby and --pgbouncer need --store postgres."
      : `There is no store ${store}: sqlite or postgres.`,
  );
  process.exit(2);
}

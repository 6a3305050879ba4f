// `npm test`: runs every test file under Bun and ends with the line "N passed, N failed". With arguments: those files
// alone. `npm run test:fast` names those that a person runs before each commit. Most tests wait more than they work, for
// processes, databases and browsers: two files run at a time beside one that mostly waits and one that mostly sleeps, the
// longest first, as measured in `test/timings.json` (renewed by `npm test -- --update-timings`), on one PostgreSQL with a
// database for each that needs one and, where all files run, with one executable that they start as their processes.
import { Glob } from "bun";
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryFolder } from "../test/support/memory-folder.ts";
import { PostgresServer } from "../test/support/postgres.ts";
import { runInGroup } from "./process-group.ts";
import { filesToRepeat, type Ran, readRun, verdictOf } from "./second-run.ts";

/** Far beyond what any test takes alone: on a machine with other work the slowest take their time, and are not wrong. */
const STUCK_MS = 240_000;
/** With three, a machine of two cores is so late that what waits for half a second is not met. */
const FILES_AT_ONCE = 2;
/** One after the other in the same program, loaded and compiled once: a fifth less to do than each in one of its own. */
const TOGETHER = "--no-isolate";
/** Of the gateways of all files that run at once. */
const CONNECTIONS = "500";

/** Each commit waits for its disk, which is most of what a test of the store waits for; a process that is killed loses nothing in memory either. */
const memory = MemoryFolder.make();
if (memory !== null) process.env["TMPDIR"] = memory.path;
const database = process.env["TEST_DATABASE_URL"] ?? "";
const startServer = () => (database === "" ? PostgresServer.start({ max_connections: CONNECTIONS }) : null);

/** These mostly sleep, with next to no work: one after the other, beside all others. */
const SLEEPING = new Set([
  "./src/ledger/postgres/lease.test.ts",
  "./src/providers/credentials/aws-role.test.ts",
  "./src/providers/credentials/google-service-account.test.ts",
  "./src/tracing/exporter.test.ts",
  "./test/alerts/slow-receivers.test.ts",
  "./test/api/transport.test.ts",
  "./test/app/alert-rules.test.ts",
  "./test/app/grafana.test.ts",
  "./test/app/health.test.ts",
  "./test/app/long-files.test.ts",
  "./test/cli/login.test.ts",
  "./test/deploy/install.test.ts",
  "./test/faults/clock-steps.test.ts",
  "./test/faults/floods.test.ts",
  "./test/faults/no-descriptors.test.ts",
  "./test/faults/odd-http.test.ts",
  "./test/faults/provider.test.ts",
  "./test/faults/rotten.test.ts",
  "./test/faults/unsettled.test.ts",
  "./test/faults/uploads.test.ts",
  "./test/payments/auto-top-up.test.ts",
  "./test/replicas/clock-steps.test.ts",
  "./test/replicas/database-faults.test.ts",
  "./test/replicas/failover.test.ts",
  "./test/replicas/months.test.ts",
  "./test/replicas/outage.test.ts",
  "./test/replicas/paused.test.ts",
  "./test/replicas/people-changes.test.ts",
  "./test/replicas/stopped.test.ts",
]);
/** These wait far more than they work, or judge memory: one after the other, beside the two. */
const WAITING = new Set([
  "./test/api/keys.test.ts",
  "./test/api/metrics.test.ts",
  "./test/api/proven-first.test.ts",
  "./test/api/stopped-organizations.test.ts",
  "./test/app/authority.test.ts",
  "./test/browser/device.test.ts",
  "./test/browser/second-factor.test.ts",
  "./test/browser/states.test.ts",
  "./test/cli/doctor-refused.test.ts",
  "./test/cli/postgres-start.test.ts",
  "./test/cli/rotate-key-places.test.ts",
  "./test/cli/rotate-key.test.ts",
  "./test/cli/start-stopped.test.ts",
  "./test/deploy/image.test.ts",
  "./test/faults/count-flood.test.ts",
  "./test/faults/many-streams.test.ts",
  "./test/faults/mutants.test.ts",
  "./test/faults/people-lines.test.ts",
  "./test/faults/progress.test.ts",
  "./test/ledger/postgres-faults.test.ts",
  "./test/ledger/quarantine.test.ts",
  "./test/ledger/sqlite.test.ts",
  "./test/replicas/no-writes.test.ts",
  "./test/replicas/replicas.test.ts",
  "./test/replicas/standby.test.ts",
  "./test/replicas/upgrade.test.ts",
  "./test/vendor-sdks/vendor-sdks.test.ts",
]);
/** Real agents, hundreds of megabytes: `npm run test:clients` (docs/decisions/0047-agents-are-tried-by-their-own-command.md). */
const AGENTS = "test/agents/";
/** The torture runs judge whole seconds of real processes: one after the other, when nothing else runs. */
const ALONE = "test/simulation/torture";

/** The single executable, for the processes of all files; null where it cannot be built: its own test tries again, and tells. */
async function buildProgram(): Promise<string | null> {
  const program = join(import.meta.dir, "../node_modules/.cache/tollgate-program/tollgate");
  const child = Bun.spawn([process.execPath, "scripts/build.ts", program], { stdout: "ignore" });
  return (await child.exited) === 0 ? program : null;
}

const TIMINGS = "test/timings.json";
const UPDATE = "--update-timings";

/** What a lane has measured of its files, beside what the other lanes have of theirs. */
function keepTimings(measured: string, files: readonly string[]): void {
  const [kept, own] = [TIMINGS, measured].map(
    (path) => JSON.parse(readFileSync(path, "utf8")) as { files: Record<string, number> },
  );
  if (kept === undefined || own === undefined) return;
  for (const path of files.map((file) => file.replace("./", ""))) {
    const ms = own.files[path];
    if (ms !== undefined) kept.files[path] = ms;
  }
  const longestFirst = Object.entries(kept.files).toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  writeFileSync(
    TIMINGS,
    `${JSON.stringify({ ...kept, files: Object.fromEntries(longestFirst) }, null, 2)}\n`,
  );
  rmSync(measured);
}

interface Lane {
  filesAtOnce: number;
  files: readonly string[];
  flags: readonly string[];
  /** Freed memory stays with its process until that ends, an eighth less to do: nothing here may judge memory. */
  keepsMemory?: boolean;
  /** What it says is printed in one piece, when it has ended. */
  last?: boolean;
}

async function run({ filesAtOnce, files, flags, keepsMemory = false, last = false }: Lane): Promise<Ran> {
  const updates = flags.includes(UPDATE);
  const timings = updates ? join(tmpdir(), `timings-${crypto.randomUUID()}.json`) : TIMINGS;
  if (updates) copyFileSync(TIMINGS, timings);
  const report = join(tmpdir(), `report-${crypto.randomUUID()}.xml`);
  let output = "";
  const { code, left } = await runInGroup(
    [
      process.execPath,
      "test",
      `--parallel=${filesAtOnce}`,
      `--timings=${timings}`,
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      "--timeout",
      String(STUCK_MS),
      ...flags,
      ...files,
    ],
    {
      env: {
        ...process.env,
        ...(keepsMemory && { MIMALLOC_PURGE_DELAY: "-1" }),
        BUN_CONFIG_MAX_HTTP_REQUESTS: "65336",
        TEST_DATABASE_URL: server?.url ?? database,
        ...(program !== null && { TOLLGATE_TEST_PROGRAM: program, TOLLGATE_CALLED_AS: "./tollgate" }),
      },
      heard: (bytes) => {
        output += bytes.toString();
        if (!last) process.stderr.write(bytes);
      },
    },
  );
  if (last) process.stderr.write(output);
  if (updates) keepTimings(timings, files);
  const told = existsSync(report) ? readFileSync(report, "utf8") : null;
  rmSync(report, { force: true });
  return readRun({ code, output, report: told, left });
}

const asked = process.argv.slice(2);
const files = [...new Glob("{src,cli,bench,torture,test}/**/*.test.ts").scanSync(".")].map(
  (path) => `./${path}`,
);
const given = asked.filter((arg) => arg.startsWith("--"));
const places = asked.filter((arg) => !arg.startsWith("--")).map((arg) => arg.replace(/^(\.\/)?/, "./"));
const whole = places.length === 0;
const chosen = files.filter((path) =>
  whole ? !path.includes(AGENTS) : places.some((place) => path.startsWith(place)),
);
if (chosen.length === 0) throw new Error(`no test file begins with ${places.join(" or ")}`);
const beside = [SLEEPING, WAITING].map((those) => {
  for (const path of those) if (!files.includes(path)) throw new Error(`${path} is not there any more`);
  return chosen.filter((path) => those.has(path));
});
const alone = chosen.filter((path) => path.includes(ALONE));
const working = chosen.filter((path) => ![...beside, alone].some((those) => those.includes(path)));
const [server, program] = await Promise.all([startServer(), whole ? buildProgram() : null]);
const flags = [TOGETHER, ...given];
const ran = await Promise.all(
  [
    { filesAtOnce: FILES_AT_ONCE, files: working, flags, keepsMemory: true },
    ...beside.map((files) => ({ filesAtOnce: 1, files, flags, last: true })),
  ].flatMap((lane) => (lane.files.length > 0 ? [run(lane)] : [])),
);
if (alone.length > 0) ran.push(await run({ filesAtOnce: 1, files: alone, flags: given }));
const repeated = filesToRepeat(ran, whole).map((path) => `./${path}`);
const again = repeated.length > 0 ? await run({ filesAtOnce: 1, files: repeated, flags }) : null;
await server?.stop();
memory?.remove();
const { lines, passes } = verdictOf(ran, again);
for (const line of lines) console.log(line);
process.exit(passes ? 0 : 1);

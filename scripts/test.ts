// `npm test`: runs every test file under Bun and ends with the line "N passed, N failed". With arguments: those files
// alone. `npm run test:fast` names those that a person runs before each commit. Most tests wait more than they work, for
// processes, databases and browsers: two files run at a time beside one that mostly waits, the longest first, as measured in
// `test/timings.json` (renewed by `npm test -- --update-timings`), on one PostgreSQL with a database for each that needs one
// and, where all files run, with one executable that they start as their processes.
import { Glob } from "bun";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { MemoryFolder } from "../test/support/memory-folder.ts";
import { PostgresServer } from "../test/support/postgres.ts";

/** Far beyond what any test takes alone: on a machine with other work the slowest take their time, and are not wrong. */
const STUCK_MS = 120_000;
/** With three, a machine of two cores is so late that what waits for half a second is not met. */
const FILES_AT_ONCE = 2;
/** One after the other in the same program, loaded and compiled once: a fifth less to do than each in one of its own. */
const TOGETHER = "--no-isolate";
/** Of the gateways of all files that run at once. */
const CONNECTIONS = "500";

/** Each commit waits for its disk, which is most of what a test of the store waits for; a process that is killed loses nothing in memory either. */
const memory = MemoryFolder.make();
if (memory !== null) process.env["TMPDIR"] = memory.path;
const given = process.env["TEST_DATABASE_URL"] ?? "";
const server = given === "" ? await PostgresServer.start({ max_connections: CONNECTIONS }) : null;

/** These wait far more than they work: one after the other, beside the two. */
const WAITING = new Set([
  "./src/ledger/postgres/lease.test.ts",
  "./src/providers/credentials/aws-role.test.ts",
  "./src/providers/credentials/google-service-account.test.ts",
  "./src/tracing/exporter.test.ts",
  "./test/api/transport.test.ts",
  "./test/app/alert-rules.test.ts",
  "./test/app/grafana.test.ts",
  "./test/app/health.test.ts",
  "./test/browser/states.test.ts",
  "./test/cli/login.test.ts",
  "./test/deploy/install.test.ts",
  "./test/faults/floods.test.ts",
  "./test/faults/many-streams.test.ts",
  "./test/faults/odd-http.test.ts",
  "./test/faults/provider.test.ts",
  "./test/faults/unsettled.test.ts",
  "./test/faults/uploads.test.ts",
  "./test/ledger/postgres-faults.test.ts",
  "./test/ledger/quarantine.test.ts",
  "./test/ledger/sqlite.test.ts",
  "./test/payments/auto-top-up.test.ts",
  "./test/replicas/database-faults.test.ts",
  "./test/replicas/no-writes.test.ts",
  "./test/replicas/outage.test.ts",
  "./test/replicas/replicas.test.ts",
  "./test/replicas/standby.test.ts",
  "./test/replicas/upgrade.test.ts",
  "./test/vendor-sdks/vendor-sdks.test.ts",
]);
/** Real agents, hundreds of megabytes: `npm run test:clients` (docs/decisions/0047-agents-are-tried-by-their-own-command.md). */
const AGENTS = "test/agents/";
/** The torture runs judge whole seconds of real processes: one after the other, when nothing else runs. */
const ALONE = "test/simulation/";

/** The single executable, for the processes of all files; null where it cannot be built, which its own test tells. */
async function buildProgram(): Promise<string | null> {
  const program = join(import.meta.dir, "../node_modules/.cache/tollgate-program/tollgate");
  const child = Bun.spawn([process.execPath, "scripts/build.ts", program], { stdout: "ignore" });
  return (await child.exited) === 0 ? program : null;
}

interface Ran {
  code: number;
  passed: number;
  failed: number;
}

/** `last`: what it says is printed in one piece, when it has ended. */
async function run(filesAtOnce: number, args: readonly string[], { last = false } = {}): Promise<Ran> {
  const child = spawn(
    process.execPath,
    [
      "test",
      `--parallel=${filesAtOnce}`,
      "--timings=test/timings.json",
      "--timeout",
      String(STUCK_MS),
      ...args,
    ],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        BUN_CONFIG_MAX_HTTP_REQUESTS: "65336",
        TEST_DATABASE_URL: server?.url ?? given,
        ...(program !== null && { TOLLGATE_TEST_PROGRAM: program }),
      },
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (bytes: Buffer) => {
      output += bytes.toString();
      if (!last) process.stderr.write(bytes);
    });
  }
  const code = await new Promise<number>((resolve) => child.on("close", (status) => resolve(status ?? 1)));
  if (last) process.stderr.write(output);
  const count = (word: string): number =>
    Number(output.match(new RegExp(`^\\s*(\\d+) ${word}$`, "m"))?.[1] ?? 0);
  return { code, passed: count("pass"), failed: count("fail") };
}

const asked = process.argv.slice(2);
const files = [...new Glob("{src,cli,bench,torture,test}/**/*.test.ts").scanSync(".")].map(
  (path) => `./${path}`,
);
const flags = asked.filter((arg) => arg.startsWith("--"));
const places = asked.filter((arg) => !arg.startsWith("--")).map((arg) => arg.replace(/^(\.\/)?/, "./"));
const whole = places.length === 0;
const chosen = files.filter((path) =>
  whole ? !path.includes(AGENTS) : places.some((place) => path.startsWith(place)),
);
if (chosen.length === 0) throw new Error(`no test file begins with ${places.join(" or ")}`);
for (const path of WAITING)
  if (!files.includes(path)) throw new Error(`${path}, one of WAITING, is not there any more`);
const working = chosen.filter((path) => !path.includes(ALONE) && !WAITING.has(path));
const alone = chosen.filter((path) => path.includes(ALONE));
const waiting = chosen.filter((path) => WAITING.has(path));
const program = whole ? await buildProgram() : null;
const lanes: Promise<Ran>[] = [];
if (working.length > 0) lanes.push(run(FILES_AT_ONCE, [TOGETHER, ...flags, ...working]));
if (waiting.length > 0) lanes.push(run(1, [...flags, ...waiting], { last: true }));
const ran = await Promise.all(lanes);
if (alone.length > 0) ran.push(await run(1, [...flags, ...alone]));
await server?.stop();
memory?.remove();
const sum = (of: "passed" | "failed"): number => ran.reduce((total, one) => total + one[of], 0);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
process.exit(ran.every(({ code, passed }) => code === 0 && passed > 0) ? 0 : 1);

// Checks the floor plan (docs/decisions/0001-floors.md): a file may import only from its own room or from lower
// floors. Also checks that docs/design/house.md §1 lists exactly the rooms that exist.
import { Glob } from "bun";
import { dirname, normalize, join } from "node:path";

/** Floors from top to bottom; rooms on one floor may not import each other. */
const FLOORS: string[][] = [
  ["main"],
  ["http", "config"],
  ["api", "tracing"],
  ["operator"],
  ["reporting"],
  ["gateway", "alerts"],
  ["registry"],
  ["releases", "ledger", "providers", "payments", "people"],
  ["pricing"],
  ["limits"],
  ["store"],
  ["shapes", "domain", "lib"],
];
const floorOf = new Map(FLOORS.flatMap((rooms, floor) => rooms.map((room) => [room, floor] as const)));
/** The API's shapes are words that every room may use; the endpoints stand above the rooms that they call. */
const roomOf = (path: string): string =>
  path
    .replace(/^src\/api\/shapes\//, "shapes/")
    .replace(/^src\//, "")
    .replace(/\.ts$/, "")
    .split("/")[0] ?? "";

/**
 * Commands that run without a gateway, and the parts of a gateway that the bench measures: each is one file that
 * imports what it needs.
 */
const STANDALONE = new Set([
  ...[
    "serve",
    "simulator",
    "release",
    "models",
    "receipt",
    "doctor",
    "doctor-store",
    "provider",
    "db",
    "rotate-key",
    "restored",
    "seed",
  ].map((noun) => `cli/${noun}.ts`),
  ...[
    "null-ledger",
    "ledger-alone",
    "lean-sqlite",
    "lean-postgres",
    "lean-books",
    ...["fill", "postgres", "sqlite"].map((part) => `migrations/${part}`),
  ].map((part) => `bench/${part}.ts`),
]);

/** print.ts prints times; clock.ts calculates with the gateway's own clock. */
const PRINTS_TIMES = new Set(["src/domain/print.ts", "src/lib/clock.ts"]);

const violations: string[] = [];
const tree = /^```\nsrc\/\n(.*?)^```/ms.exec(await Bun.file("docs/design/house.md").text())?.[1] ?? "";
const named = new Set([...tree.matchAll(/^ {2}(\w+)\/ /gm)].map(([, room]) => room));
const rooms = new Set([...new Glob("src/**/*.ts").scanSync(".")].map((path) => path.split("/")[1] ?? ""));
for (const room of named.symmetricDifference(rooms))
  violations.push(`docs/design/house.md §1 and src/ do not agree about ${room}/`);
for await (const path of new Glob("src/**/*.ts").scan(".")) {
  if (path.endsWith(".test.ts")) continue;
  const from = roomOf(path);
  const floor = floorOf.get(from);
  if (floor === undefined) violations.push(`${path}: room "${from}" is not on the floor plan`);
  const source = await Bun.file(path).text();
  // Anything repeated is a job, which no failure ends (docs/decisions/0020-one-bad-record.md).
  if (source.includes("setInterval(") && path !== "src/lib/jobs.ts")
    violations.push(`${path} calls setInterval: what repeats goes through src/lib/jobs.ts`);
  // An invalid stored time must not throw where it is printed.
  if (source.includes(".toISOString(") && !PRINTS_TIMES.has(path))
    violations.push(
      `${path} calls toISOString: times are printed by src/domain/print.ts, which never throws`,
    );
  if (source.includes("lib/every.ts") && /import \{[^}]*\bevery\b[^}]*\} from/.test(source))
    violations.push(`${path} imports every: what repeats goes through src/lib/jobs.ts`);
  for (const [, target = ""] of source.matchAll(/from "(\.[^"]+)"/g)) {
    const at = normalize(join(dirname(path), target));
    // Production code must not be able to switch on what only the bench or a test uses.
    if (/^(bench|test|torture)\//.test(at))
      violations.push(`${path} imports ${target}, which is not of the product`);
    const to = roomOf(at);
    const lower = floorOf.get(to);
    if (to === from || floor === undefined || lower === undefined) continue;
    if (lower < floor || (lower === floor && floor < FLOORS.length - 1))
      violations.push(`${path} imports ${target}: ${from} may not use ${to}`);
  }
}
/**
 * What clients may import: the shared words, and the parsers of the formats, so that a page checks input by the
 * server's own rule. Also the code that verifies a charge, so that it uses the arithmetic that made it.
 */
const OPEN_TO_CLIENTS =
  /^src\/(api|domain)\/|^src\/gateway\/formats\/[^/]+\/parse-|^src\/pricing\/(verify-charge|verify-entries|check-signature)\.ts$/;
const CLIENTS = ["cli/**/*.ts", "bench/**/*.ts", "dashboard/**/*.{ts,tsx}"];
for (const path of CLIENTS.flatMap((pattern) => [...new Glob(pattern).scanSync(".")])) {
  for (const [, target = ""] of (await Bun.file(path).text()).matchAll(/from "(\.[^"]+)"/g)) {
    const to = normalize(join(dirname(path), target));
    if (to.startsWith("src/") && !OPEN_TO_CLIENTS.test(to) && !STANDALONE.has(path))
      violations.push(`${path} imports ${target}: only src/api, src/domain and parsers are open to it`);
  }
}
// The torture harness judges the gateway from outside: it signs releases with the product's code and otherwise shares
// only words.
for (const path of new Glob("torture/**/*.ts").scanSync(".")) {
  for (const [, target = ""] of (await Bun.file(path).text()).matchAll(/from "(\.[^"]+)"/g)) {
    const to = normalize(join(dirname(path), target));
    if (to.startsWith("src/") && !/^src\/(api|domain|releases)\//.test(to))
      violations.push(`${path} imports ${target}: only src/api, src/domain and src/releases are open to it`);
  }
}
for (const violation of violations) console.log(violation);
process.exit(violations.length === 0 ? 0 : 1);

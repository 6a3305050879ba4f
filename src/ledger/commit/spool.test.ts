// What is kept of settlements on a disk that fills up while the database is away.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { Spool } from "./spool.ts";

const nobodyOwns = async (): Promise<ReadonlySet<number>> => new Set();

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "tollgate-spool-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the code in its own process, whose files end at 8 KiB: a write across that limit is short. Returns its output. */
async function onAFullDisk(does: string): Promise<string> {
  const program = `
    import { Spool } from ${JSON.stringify(join(import.meta.dir, "spool.ts"))};
    process.on("SIGXFSZ", () => {});
    const spool = new Spool(
      { dataDirectory: process.argv[1], dataKey: new Uint8Array(32) },
      { epoch: 1, failed: () => console.log("failed") },
    );
    const usage = { promptTokens: 1, completionTokens: 1, cachedTokens: null, reasoningTokens: null };
    const settle = (requestId, bytes) => {
      const answer = { requestId, status: 200, headers: {}, body: Buffer.alloc(bytes, 97) };
      const settlement = { organizationId: "org_a", requestId, releaseDigest: "d", evidence: "provider_usage", usage,
        charge: 5n, variance: 0n, minimumApplied: false, finishReason: "stop", status: 200, attempts: [], firstPartMs: 1,
        totalMs: 2, answer };
      return { kind: "settle", owner: { epoch: 1 }, settlement };
    };
    ${does}
    process.exit(0);`;
  const shell = 'ulimit -f 16; exec "$0" -e "$1" "$2"'; // blocks of 512 bytes
  const limited = Bun.spawn(["sh", "-c", shell, process.execPath, program, folder], { stdout: "pipe" });
  const said = await new Response(limited.stdout).text();
  expect(await limited.exited).toBe(0);
  return said;
}

test.each([
  ["one after the other", "for (const one of all) spool.keep([one]);"],
  ["at once", "spool.keep(all);"],
])(
  "kept %s: what does not fit is told and leaves nothing behind; what comes after it is kept whole",
  async (_, keep) => {
    const all = '[settle("req_1", 100), settle("req_2", 100_000), settle("req_3", 100)]';
    expect(await onAFullDisk(`const all = ${all}; ${keep}`)).toBe("failed\n");
    const [name = ""] = readdirSync(folder);
    renameSync(join(folder, name), join(folder, "spool-1-999999999.jsonl")); // of a process that no longer runs
    const next = new Spool(
      { dataDirectory: folder, dataKey: new Uint8Array(32) },
      { epoch: 2, failed: () => {} },
    );
    const [left] = await next.leftovers(nobodyOwns);
    const settled = left?.entries.map((entry) => {
      const operation = entry.read();
      return operation.kind === "settle" ? operation.settlement.requestId : null;
    });
    expect(settled).toEqual(["req_1", "req_3"]);
  },
);

test("a line that cannot be set aside completely is reported and leaves nothing behind", async () => {
  const said = await onAFullDisk(`
    for (const length of [1_000, 100_000, 2_000])
      try {
        spool.setAside({ line: "x".repeat(length), place: null, read: () => {} });
      } catch {
        console.log("failed");
      }`);
  expect(said).toBe("failed\n");
  const lines = readFileSync(join(folder, "spool-set-aside.txt"), "utf8").split("\n");
  expect(lines.map(({ length }) => length)).toEqual([1_000, 2_000, 0]);
});

/** Returns a spool of this process that keeps resolutions of one request. */
function spoolOf(epoch: number) {
  const failed = (error: unknown): never => {
    throw error;
  };
  const spool = new Spool({ dataDirectory: folder, dataKey: new Uint8Array(32) }, { epoch, failed });
  const left = async (owning = nobodyOwns): Promise<(string | undefined)[]> =>
    (await spool.leftovers(owning)).flatMap(({ entries }) => entries).map(({ place }) => place?.requestId);
  return { spool, left };
}

const voiding = (requestId: string) => ({
  kind: "void" as const,
  owner: { epoch: 1 },
  voiding: {
    organizationId: "org_a",
    requestId,
    status: 500,
    errorCode: "x",
    attempts: [],
    totalMs: 1,
    freeClaim: true,
    answer: null,
  },
});

test.each([
  ["of another host", () => `spool-elsewhere-1-${process.pid}.jsonl`],
  ["whose number runs here, of this host", () => `spool-${hostname()}-1-${process.ppid}.jsonl`],
  ["whose number runs here, of an older program", () => `spool-1-${process.ppid}.jsonl`],
])("what a process left %s is nobody else's before it owns nothing any more", async (_, name) => {
  const { spool } = spoolOf(1);
  spool.keep([voiding("req_1")]);
  const [own = ""] = readdirSync(folder);
  renameSync(join(folder, own), join(folder, name()));
  const { left } = spoolOf(2);
  expect(await left(async () => new Set([1, 2]))).toEqual([]);
  expect(await left(async () => new Set([2]))).toEqual(["req_1"]);
});

test("a running process whose spool was taken as abandoned keeps everything that waits in a new one", async () => {
  const { spool } = spoolOf(1);
  const other = spoolOf(2);
  const [first, second] = [voiding("req_1"), voiding("req_2")];
  spool.keep([first]);
  for (const left of await other.spool.leftovers(nobodyOwns)) left.forget();
  expect(readdirSync(folder)).toEqual([]);
  spool.keep([first, second]);
  expect(await other.left()).toEqual(["req_1", "req_2"]);
  for (const operation of [first, second]) spool.taken(operation);
  expect(readdirSync(folder)).toEqual([]);
});

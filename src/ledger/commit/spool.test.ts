// What is kept of settlements on a disk that fills while the database is away.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Spool } from "./spool.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "tollgate-spool-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** In a process of its own whose files end at 8 KiB: a write across that end is short. Tells of whom it could not keep. */
const KEEPS = `
  import { Spool } from ${JSON.stringify(join(import.meta.dir, "spool.ts"))};
  process.on("SIGXFSZ", () => {});
  const spool = new Spool(
    { dataDirectory: process.argv[1], dataKey: new Uint8Array(32) },
    { epoch: 1, failed: () => console.log("failed") },
  );
  const usage = { promptTokens: 1, completionTokens: 1, cachedTokens: null, reasoningTokens: null };
  for (const [requestId, bytes] of [["req_1", 100], ["req_2", 100_000], ["req_3", 100]]) {
    const answer = { requestId, status: 200, headers: {}, body: Buffer.alloc(bytes, 97) };
    const settlement = { organizationId: "org_a", requestId, releaseDigest: "d", evidence: "provider_usage", usage,
      charge: 5n, variance: 0n, minimumApplied: false, finishReason: "stop", status: 200, attempts: [], firstPartMs: 1,
      totalMs: 2, answer };
    spool.keep([{ kind: "settle", owner: { epoch: 1 }, settlement }]);
  }
  process.exit(0);`;

test("what does not fit is told and leaves nothing behind; what comes after it is kept whole", async () => {
  const shell = 'ulimit -f 16; exec "$0" -e "$1" "$2"'; // blocks of 512 bytes
  const limited = Bun.spawn(["sh", "-c", shell, process.execPath, KEEPS, folder], { stdout: "pipe" });
  expect(await new Response(limited.stdout).text()).toBe("failed\n");
  expect(await limited.exited).toBe(0);
  const [name = ""] = readdirSync(folder);
  renameSync(join(folder, name), join(folder, "spool-1-999999999.jsonl")); // of a process that runs no more
  const next = new Spool(
    { dataDirectory: folder, dataKey: new Uint8Array(32) },
    { epoch: 2, failed: () => {} },
  );
  const [left] = next.leftovers();
  const settled = left?.entries.map((entry) => {
    const operation = entry.read();
    return operation.kind === "settle" ? operation.settlement.requestId : null;
  });
  expect(settled).toEqual(["req_1", "req_3"]);
});

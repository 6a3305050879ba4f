// A file may take long to download: a reader who has lost access gets no more of it (hardening.md S10).
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Browser, firstOperator, newOperator } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

setDefaultTimeout(60_000);

let gateway: TestGateway;
let root: Browser;

beforeAll(async () => {
  gateway = await startGateway({ store: "sqlite" });
  root = await firstOperator(gateway);
  manyLines();
});
afterAll(() => gateway.stop());

const LINES = 30_000;

/** More than socket buffers hold. */
function manyLines(): void {
  const ledger = new Database(join(gateway.dataDir, "tollgate.sqlite"));
  ledger.run("PRAGMA busy_timeout = 5000");
  ledger.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LINES})
     INSERT INTO audit_log (at, actor, action, target, value_after)
     SELECT ?1 + i, 'test', 'route.disable', 'r', json_object('reason', printf('%.500c', 'x')) FROM n`,
    [Date.now() - 86_400_000],
  );
  ledger.close();
}

/** Reads the beginning, runs `meanwhile`, reads the rest; returns how much came, and whether it was complete. */
async function read(
  by: Browser,
  meanwhile: () => Promise<unknown>,
): Promise<{ lines: number; whole: boolean }> {
  const headers = { cookie: by.cookie };
  const answer = await fetch(`${gateway.url}/app/v1/operator/audit.csv`, { headers });
  expect(answer.status).toBe(200);
  const reader = answer.body?.getReader();
  if (reader === undefined) throw new Error("no body");
  let lines = 0;
  try {
    for (let pieces = 0; ; pieces += 1) {
      const { value, done } = await reader.read();
      if (done) return { lines, whole: true };
      for (const byte of value) if (byte === 10) lines += 1;
      if (pieces === 0) await meanwhile();
    }
  } catch {
    return { lines, whole: false };
  }
}

test("an operator who is removed during a download gets its beginning, and it does not look complete", async () => {
  const operator = await newOperator(root, gateway, "leaves@example.com");
  const { person } = await operator.app("GET /session");
  const [cut, all] = await Promise.all([
    read(operator, async () => {
      await root.app("DELETE /operator/people/{person}", { person: person?.id ?? "" });
      await Bun.sleep(4_000);
    }),
    read(root, () => Bun.sleep(4_000)),
  ]);
  expect({ whole: cut.whole, less: cut.lines < LINES }).toEqual({ whole: false, less: true });
  expect({ whole: all.whole, all: all.lines > LINES }).toEqual({ whole: true, all: true });
});

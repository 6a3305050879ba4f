// A release and the next one side by side on one database, both as real programs: the newer one migrates while the
// older one serves, then traffic goes through both, answers of one are known to the other, and the way back is
// refused with an explanation. The next release is this one with an additional migration; TOLLGATE_OLDER=REVISION
// makes the older one from a commit instead, with this checkout as the newer one. If both have the same schema, the
// older one may come back.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { checkOut } from "../../bench/checkout.ts";
import { NEWEST_SCHEMA } from "../../src/store/migrations/list.ts";
import { plant } from "../../torture/mutants/mutant.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";
import { ProcessGateway, type Received, untilParts } from "../support/process-gateway.ts";
import { PROGRAM } from "../support/program.ts";
import { reads, waitFor } from "../support/wait.ts";

const NEXT = 999;
/** What releases add: columns of tables that every request writes, tables, indexes. */
const NEXT_SCHEMA = `ALTER TABLE request ADD COLUMN novelty INTEGER NOT NULL DEFAULT 0 CHECK (novelty >= 0);
  ALTER TABLE org_balance ADD COLUMN novelty INTEGER;
  CREATE TABLE novelty (org_id TEXT NOT NULL PRIMARY KEY);
  CREATE INDEX novelty_audit ON audit_log (target) WHERE action = 'novelty';`;
const LIST = '  sqlite: ofStore("sqlite"),\n  postgresql: ofStore("postgresql"),\n';
const LONGER = `
  sqlite: [...ofStore("sqlite"), { version: ${NEXT}, name: "next", sql: NEXT_SCHEMA }],
  postgresql: [...ofStore("postgresql"), { version: ${NEXT}, name: "next", sql: inPostgres(NEXT_SCHEMA) }],
`;

interface Releases {
  older: string;
  newer: string;
  newest: number;
  trees: string[];
}

function releases(): Releases {
  const revision = process.env["TOLLGATE_OLDER"];
  if (revision !== undefined) {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-older-"));
    const { title } = checkOut(revision, join(folder, "tree"));
    console.log(`two-releases.test.ts: the older one is ${title}`);
    return { older: join(folder, "tree/tollgate"), newer: PROGRAM, newest: NEWEST_SCHEMA, trees: [folder] };
  }
  const edits = [
    { file: "src/store/migrations/list.ts", find: LIST, replace: LONGER },
    {
      file: "src/store/migrations/list.ts",
      find: "const ofStore = ",
      replace: `const NEXT_SCHEMA = ${JSON.stringify(NEXT_SCHEMA)};\nconst ofStore = `,
    },
  ];
  const tree = plant({ name: "next-release", edits });
  return { older: PROGRAM, newer: join(tree, "tollgate"), newest: NEXT, trees: [tree] };
}

let of: Releases;
let database: TestDatabase;
let older: ProcessGateway;
let newer: ProcessGateway;
let env: Record<string, string>;
let admin: pg.Client;
/** True if the newer one has more migrations. */
let migrates: boolean;
beforeAll(async () => {
  of = releases();
  database = await (await testPostgres()).database();
  env = { DATABASE_URL: database.url };
  older = await ProcessGateway.start(env, "", of.older);
  admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  migrates = (await schema()) < of.newest;
  if (process.env["TOLLGATE_OLDER"] === undefined) expect(migrates).toBe(true);
}, 120_000);
afterAll(async () => {
  await admin.end();
  await newer.stop();
  await older.stop();
  await database.drop();
  for (const tree of of.trees) rmSync(tree, { recursive: true, force: true });
}, 120_000);

const ask = (more: object = {}): object => ({
  model: "plain-1",
  messages: [{ role: "user", content: "Hello" }],
  max_tokens: 60,
  ...more,
});

const chargeOf = ({ text }: Received): number =>
  Number(/"customer_charge_usd":\s*([\d.]+)/.exec(text)?.[1] ?? Number.NaN);
const schema = async (): Promise<number> =>
  Number((await admin.query("SELECT max(version) AS newest FROM schema_migration")).rows[0]?.newest);
const ended = (gateway: ProcessGateway, organizationId: string) => async (): Promise<string> =>
  (await gateway.admin<{ held_usd: string }>("GET", `/credits?org=${organizationId}`)).held_usd;

test("the newer one migrates while the older one serves; traffic through both, every charge once, on books that both find correct", async () => {
  const { organizationId, secret } = await older.customer();
  const serving = [older];
  const answers: Received[] = [];
  let stop = false;
  const traffic = [0, 1, 2].map(async (n) => {
    for (let at = n; !stop; at += 1) {
      const gateway = serving[at % serving.length] ?? older;
      answers.push(
        await gateway.chat(secret, ask({ stream: n === 0 }), { "idempotency-key": `traffic-${n}-${at}` }),
      );
    }
  });
  await waitFor(async () => answers.length >= 10, "answers of the older one");
  newer = await older.beside(env, of.newer);
  expect(await schema()).toBe(of.newest);
  serving.push(newer);
  const before = answers.length;
  await waitFor(async () => answers.length >= before + 30, "answers of both");
  stop = true;
  await Promise.all(traffic);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  for (const gateway of [older, newer]) {
    await reads(ended(gateway, organizationId), "0.000000000");
    expect(await gateway.admin("GET", "/ledger/audit")).toMatchObject({ ok: true, violations: [] });
  }
  const { spent_usd } = await newer.admin<{ spent_usd: string }>("GET", `/credits?org=${organizationId}`);
  expect(Number(spent_usd)).toBeCloseTo(
    answers.reduce((sum, answer) => sum + chargeOf(answer), 0),
    9,
  );
}, 120_000);

test("the other one replays what one has answered, and a stream that one runs is followed at the other", async () => {
  const { organizationId, secret } = await older.customer();
  const pairs = [
    [older, newer],
    [newer, older],
  ] as const;
  for (const [index, [one, other]] of pairs.entries()) {
    const headers = { "idempotency-key": `across-${index}` };
    const first = await one.chat(secret, ask(), headers);
    const again = await other.chat(secret, ask(), headers);
    expect([first.status, again.status, again.headers.get("idempotent-replayed")]).toEqual([
      200,
      200,
      "true",
    ]);
    expect(again.text).toBe(first.text);
  }
  await fetch(`${older.simulator.url}/_sim`, {
    method: "POST",
    body: JSON.stringify({ behaviour: { tokens_per_second: 60, completion_tokens: 60 } }),
  });
  for (const [index, [one, other]] of pairs.entries()) {
    const headers = { "idempotency-key": `followed-${index}` };
    const running = one.listen(secret, ask({ stream: true }), headers);
    await untilParts([running], 5);
    const follower = await other.chat(secret, ask({ stream: true }), headers);
    const whole = await running.ended;
    expect([follower.status, follower.text]).toEqual([200, whole.text]);
  }
  await reads(ended(newer, organizationId), "0.000000000");
  expect(older.simulator.bill().filter(({ outcome }) => outcome === "running")).toEqual([]);
}, 120_000);

test("the way back: the older one does not start on the newer schema, says so, and leaves the newer one to serve", async () => {
  await older.kill("SIGTERM");
  const started: unknown = await older
    .run({ ...env, TOLLGATE_LOG_LEVEL: "error" })
    .catch((error: unknown) => error);
  if (migrates) {
    expect(String(started)).toContain("ended at its start: 1");
    expect(older.log).toMatch(
      new RegExp(`has schema ${of.newest}, this program knows \\d+; start the newer program`),
    );
  }
  const { secret } = await newer.customer();
  for (const gateway of migrates ? [newer] : [newer, older])
    expect((await gateway.chat(secret, ask())).status).toBe(200);
  expect(await newer.admin("GET", "/ledger/audit")).toMatchObject({ ok: true, violations: [] });
}, 120_000);

// Statements sent together, against a real server: values come back as sent, the first failure ends those after it,
// and the connection stays usable.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "pg";
import { askTogether, type Question } from "../../src/ledger/postgres/flight.ts";
import { namedStatement } from "../../src/ledger/postgres/query.ts";
import { READ } from "../../src/ledger/postgres/readings.ts";
import { WRITE_STATEMENTS } from "../../src/ledger/postgres/write.ts";
import { openPostgresStore, type PostgresStore } from "../../src/store/postgres.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";

const directory = mkdtempSync(join(tmpdir(), "tollgate-flight-"));
let database: TestDatabase;
let store: PostgresStore;
let client: Client;

beforeAll(async () => {
  database = await (await testPostgres()).migrated();
  store = await openPostgresStore(database.url, directory);
  client = await store.connect("flight");
});

afterAll(async () => {
  await client.end();
  await store.close();
  await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

const asked = (text: string, values: Question["values"] = [], name = text): Question => ({
  statement: namedStatement(name, text),
  values,
});
const rowsOf = async (...questions: Question[]): Promise<unknown[]> =>
  (await askTogether(client, questions)).map(({ rows }) => rows);
const codeOf = (failing: Promise<unknown>): Promise<unknown> =>
  failing.then(
    () => null,
    (error: { code?: string }) => error.code,
  );

test.each([
  ["text", ["", " ", "NULL", "null", "{}", "a,b", '"', "\\", '\\"', "'", "ü €\n\t", null]],
  ["bigint", [0n, -1n, 9_223_372_036_854_775_807n, null]],
  ["boolean", [true, false, null]],
  ["bytea", [Buffer.alloc(0), Buffer.from([0, 34, 92, 255]), null]],
])("an array of %s comes back as it was sent, whenever it is read", async (type, sent) => {
  const question = asked(`SELECT * FROM unnest($1::${type}[])`, [sent]);
  const expected = sent.map((value) => [value]);
  expect(await rowsOf(question)).toEqual([expected]);
  expect(await rowsOf(question, asked("SELECT 1::bigint"), question)).toEqual([expected, [[1n]], expected]);
});

test.each(["one", "many"] as const)(
  "the server plans all that a batch asks and writes, of %s",
  async (count) => {
    const statements = [...Object.values(READ), ...WRITE_STATEMENTS.values()];
    for (const of of statements)
      await client.query(`PREPARE tried AS ${of[count].text}`).then(() => client.query("DEALLOCATE tried"));
    expect(statements.length).toBeGreaterThan(20);
  },
);

test("single values come back as they were sent, also from unnamed statements", async () => {
  const bytes = new Uint8Array(100_000).fill(34);
  const values = ["{a}", 5n, bytes, null];
  const text = "SELECT $1::text, $2::bigint, $3::bytea, $4::text";
  const row = [["{a}", 5n, Buffer.from(bytes), null]];
  expect(await rowsOf(asked(text, values, ""), asked(text, values, ""), asked(text, values))).toEqual([
    row,
    row,
    row,
  ]);
});

test("the first failure ends those after it: nothing is committed, and the connection stays usable", async () => {
  await askTogether(client, [asked("CREATE TABLE flown (n bigint)")]);
  const insert = asked("INSERT INTO flown VALUES (1)");
  const divide = (by: bigint): Question => asked("SELECT 1 / $1::bigint", [by]);
  const commit = asked("COMMIT");
  const count = asked("SELECT count(*) FROM flown");
  const flight = (by: bigint): Question[] => [asked("BEGIN"), insert, divide(by), commit];

  expect(await codeOf(askTogether(client, flight(0n)))).toBe("22012");
  await client.query("ROLLBACK");
  expect(await rowsOf(count)).toEqual([[[0n]]]);

  const answers = await askTogether(client, flight(1n));
  expect(answers.map(({ tag }) => tag)).toEqual(["BEGIN", "INSERT 0 1", "SELECT 1", "COMMIT"]);
  expect(await rowsOf(count)).toEqual([[[1n]]]);
});

test("two concurrent flights each get their own answers, and a failed one leaves the other intact", async () => {
  const number = (n: bigint): Question => asked("SELECT $1::bigint + 0", [n], "number");
  const [first, second, third] = await Promise.allSettled([
    rowsOf(number(1n), number(2n)),
    rowsOf(number(3n), asked("SELECT no_such_column")),
    rowsOf(number(4n)),
  ]);
  expect(first).toEqual({ status: "fulfilled", value: [[[1n]], [[2n]]] });
  expect(second.status).toBe("rejected");
  expect(third).toEqual({ status: "fulfilled", value: [[[4n]]] });
});

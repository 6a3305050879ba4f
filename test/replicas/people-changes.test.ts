// Changes of people at several gateways of one database, one at a time: a gateway that is paused in the middle of one
// delays the others for seconds, and changes nothing when it wakes.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import pg from "pg";
import { firstRunToken } from "../../src/people/first-run.ts";
import { sessionSecret } from "../../src/people/store.ts";
import { readDataKey } from "../../src/store/data-key.ts";
import { Browser, PASSWORD } from "../support/browser.ts";
import { testPostgres } from "../support/postgres.ts";
import { Replicas } from "../support/replicas.ts";
import { waitFor } from "../support/wait.ts";

const HELD = 4712;
let replicas: Replicas;
let root: Browser;
beforeAll(async () => {
  replicas = await Replicas.start(2, await testPostgres());
  const secret = sessionSecret(readDataKey(join(replicas.first.folder, "data"), "existing"));
  root = new Browser(replicas.first.url);
  const account = { name: "Before", email: "root@example.com", password: PASSWORD };
  await root.app("POST /welcome", {}, { token: firstRunToken(secret, Date.now()), ...account });
}, 120_000);
afterAll(() => replicas.stop());

const rename = (index: number, name: string) => {
  const { url } = replicas.at(index);
  return root.at(url).send("PATCH", "/app/v1/profile", { name }, { origin: url });
};
const renamed = async (): Promise<(string | null)[]> =>
  (await root.app("GET /operator/audit", {}, undefined, "?action=person.rename")).data
    .map(({ after }) => after)
    .toReversed();
const line = (name: string): string => JSON.stringify({ name });

test("concurrent changes at both gateways leave one line each, the last of them with the current name", async () => {
  const names = Array.from({ length: 20 }, (_, n) => `Root ${n}`);
  const answers = await Promise.all(names.map((name, n) => rename(n, name)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const lines = await renamed();
  expect(new Set(lines)).toEqual(new Set(names.map(line)));
  expect(lines).toHaveLength(names.length);
  expect(lines.at(-1)).toBe(line((await root.app("GET /session")).person?.name ?? ""));
}, 120_000);

test("a change that waits too long for another one is told to come back", async () => {
  const client = new pg.Client({ connectionString: replicas.database.url });
  await client.connect();
  await client.query("SELECT pg_advisory_lock(hashtext('changes of people'))");
  const person = new Browser(replicas.first.url);
  const signIn = () =>
    person.send<{ error?: { code: string } }>("POST", "/auth/sign-in/email", {
      email: "root@example.com",
      password: PASSWORD,
    });
  const answers = await Promise.all([signIn(), rename(0, "Waits"), rename(1, "Waits")]);
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
  expect(answers[0]?.json.error?.code).toBe("overloaded");
  expect((await root.app("GET /session")).person?.name).not.toBe("Waits"); // reads wait for nobody
  await client.end();
  expect((await signIn()).status).toBe(200);
}, 120_000);

test("a gateway that is paused in the middle of a change is cut off", async () => {
  const before = await renamed();
  const client = new pg.Client({ connectionString: replicas.database.url });
  await client.connect();
  await client.query(`SELECT pg_advisory_lock(${HELD})`);
  await client.query(`CREATE FUNCTION people.held() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock(${HELD}); RETURN NEW; END $$`);
  await client.query(`CREATE TRIGGER held BEFORE UPDATE ON people."user" FOR EACH ROW
    WHEN (NEW.name = 'Stands') EXECUTE FUNCTION people.held()`);
  const stands = rename(1, "Stands");
  const waits = async (): Promise<boolean> =>
    (
      await client.query(
        `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = ${HELD} AND NOT granted`,
      )
    ).rows.length > 0;
  await waitFor(waits, "the change");
  await replicas.at(1).kill("SIGSTOP");
  await client.query(`SELECT pg_advisory_unlock(${HELD})`);
  await client.end();
  expect((await rename(0, "Goes on")).status).toBe(200); // after it
  await replicas.at(1).kill("SIGCONT");
  expect((await stands).status).toBeGreaterThanOrEqual(500);
  expect((await root.app("GET /session")).person?.name).toBe("Goes on");
  expect(await renamed()).toEqual([...before, line("Goes on")]);
  expect((await rename(1, "Awake")).status).toBe(200);
}, 120_000);

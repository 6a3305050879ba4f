// Two gateways on one database: an organization whose books do not add up is refused at both, after the leading
// gateway's check each minute, and resumes at both.
import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { testPostgres } from "../support/postgres.ts";
import { Replicas } from "../support/replicas.ts";
import { reads } from "../support/wait.ts";

let replicas: Replicas;
beforeAll(async () => {
  replicas = await Replicas.start(2, await testPostgres());
}, 120_000);
afterAll(() => replicas.stop());

const HELLO = { model: "plain-1", messages: [{ role: "user", content: "Hello" }], max_tokens: 20 };
/** More than the victim has: it is refused either way, so that asking again and again writes nothing to its books. */
const TOO_MUCH = { ...HELLO, max_tokens: 8_000 };
const FEW_USD = "0.001";
/** A check a minute, on a busy machine. */
const WITHIN_MS = 120_000;

async function raise(organizationId: string, by: number): Promise<void> {
  const client = new pg.Client({ connectionString: replicas.database.url });
  await client.connect();
  const changed = "UPDATE org_balance SET available = available + $2 WHERE org_id = $1";
  await client.query(changed, [organizationId, by]);
  await client.end();
}

const codes = (secret: string, body = HELLO): Promise<(string | number)[]> =>
  Promise.all(
    [0, 1].map(async (at) => {
      const reply = await replicas.at(at).chat(secret, body);
      return reply.status === 200 ? 200 : JSON.parse(reply.text).error.code;
    }),
  );

test("within a minute, without any request for it, it is refused at both; others are served; an audit at either lets it resume", async () => {
  const victim = await replicas.first.customer(FEW_USD);
  const other = await replicas.first.customer();
  expect(await codes(victim.secret)).toEqual([200, 200]);
  expect(await codes(victim.secret, TOO_MUCH)).toEqual(["insufficient_credits", "insufficient_credits"]);
  await raise(victim.organizationId, 7);
  const stopped = async (): Promise<string[]> => {
    const { data } = await replicas.at(1).admin<{ data: { org: string }[] }>("GET", "/ledger/stopped");
    return data.map(({ org }) => org);
  };
  await Bun.sleep(45_000); // a gateway checks a minute after its start
  for (const untilMs = performance.now() + WITHIN_MS; performance.now() < untilMs; await Bun.sleep(500))
    if ((await stopped()).length > 0) break;
  expect(await stopped()).toEqual([victim.organizationId]);
  // Each reads the other one's findings every five seconds.
  const refusals = ["organization_stopped", "organization_stopped"];
  await reads(() => codes(victim.secret, TOO_MUCH), refusals);
  const before = await replicas.calls();
  expect(await codes(victim.secret)).toEqual(refusals);
  expect(await replicas.calls()).toBe(before);
  expect(await codes(other.secret)).toEqual([200, 200]);
  await raise(victim.organizationId, -7);
  for (const at of [1, 0])
    expect(await replicas.at(at).admin("GET", "/ledger/audit")).toMatchObject({ ok: true, stopped: [] });
  await reads(() => codes(victim.secret, TOO_MUCH), ["insufficient_credits", "insufficient_credits"]);
  expect(await codes(victim.secret)).toEqual([200, 200]);
}, 300_000);

// Two gateways on one database: whoever's books do not add up is refused at both, by the minute's look of the one that leads, and
// goes on at both.
import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { testPostgres } from "../support/postgres.ts";
import { Replicas } from "../support/replicas.ts";

let replicas: Replicas;
beforeAll(async () => {
  replicas = await Replicas.start(2, await testPostgres());
}, 120_000);
afterAll(() => replicas.stop());

const HELLO = { model: "plain-1", messages: [{ role: "user", content: "Hello" }] };
/** A look a minute, on a machine that has much else to do. */
const WITHIN_MS = 60_000;

async function raise(organizationId: string, by: number): Promise<void> {
  const client = new pg.Client({ connectionString: replicas.database.url });
  await client.connect();
  const changed = "UPDATE org_balance SET available = available + $2 WHERE org_id = $1";
  await client.query(changed, [organizationId, by]);
  await client.end();
}

const codes = (secret: string): Promise<(string | number)[]> =>
  Promise.all(
    [0, 1].map(async (at) => {
      const reply = await replicas.at(at).chat(secret, HELLO);
      return reply.status === 200 ? 200 : JSON.parse(reply.text).error.code;
    }),
  );

test("within a minute, and without anybody asking, it is refused at both; others are served; an audit at either lets it go on", async () => {
  const victim = await replicas.first.customer();
  const other = await replicas.first.customer();
  expect(await codes(victim.secret)).toEqual([200, 200]);
  await raise(victim.organizationId, 7);
  const stopped = async (): Promise<string[]> => {
    const { data } = await replicas.at(1).admin<{ data: { org: string }[] }>("GET", "/ledger/stopped");
    return data.map(({ org }) => org);
  };
  await Bun.sleep(45_000); // a gateway looks a minute after its start
  for (const untilMs = performance.now() + WITHIN_MS; performance.now() < untilMs; await Bun.sleep(500))
    if ((await stopped()).length > 0) break;
  expect(await stopped()).toEqual([victim.organizationId]);
  await Bun.sleep(6_000); // each takes over what the other one found, every five seconds
  const before = await replicas.calls();
  expect(await codes(victim.secret)).toEqual(["organization_stopped", "organization_stopped"]);
  expect(await replicas.calls()).toBe(before);
  expect(await codes(other.secret)).toEqual([200, 200]);
  await raise(victim.organizationId, -7);
  for (const at of [1, 0])
    expect(await replicas.at(at).admin("GET", "/ledger/audit")).toMatchObject({ ok: true, stopped: [] });
  await Bun.sleep(6_000);
  expect(await codes(victim.secret)).toEqual([200, 200]);
}, 180_000);

// Gateways on one database whose own clocks differ by minutes: all of them use the database's clock, on the money
// path and elsewhere.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PLAIN } from "../support/models.ts";
import type { ProcessGateway } from "../support/process-gateway.ts";
import { type SkewedGateways, startSkewed } from "../support/skewed-gateways.ts";
import { reads } from "../support/wait.ts";

const SKEW_MS = 10 * 60_000;
let gateways: SkewedGateways;
let right: ProcessGateway;
let behind: ProcessGateway;
let ahead: ProcessGateway;
let admin: SkewedGateways["admin"];
beforeAll(async () => {
  gateways = await startSkewed(SKEW_MS);
  ({ right, behind, ahead, admin } = gateways);
}, 120_000);
afterAll(() => gateways.stop());

const ask = (model: string): object => ({
  model,
  messages: [{ role: "user", content: "Hello" }],
  max_tokens: 20,
});

test("a release is served by all of them, whichever clock it was published by", async () => {
  const { secret } = await right.customer();
  for (const [index, gateway] of [right, behind, ahead].entries()) {
    const model = `clock-${index}`;
    await gateway.publish({ ...PLAIN, model, route: model });
    for (const other of [right, behind, ahead])
      await reads(async () => (await other.chat(secret, ask(model))).status, 200);
  }
}, 120_000);

/** The management key of the first gateway, at any of them. */
function makeKey(at: ProcessGateway, organizationId: string): Promise<Response> {
  const { token } = JSON.parse(readFileSync(join(right.folder, "data/operator.json"), "utf8")) as {
    token: string;
  };
  return fetch(`${at.url}/admin/v1/keys`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "idempotency-key": "one-form-two-clocks",
    },
    body: JSON.stringify({ org: organizationId, name: "once" }),
  });
}

test("a form that is under way at one of them acts once, whatever time the other one believes it is", async () => {
  await ahead.customer(); // its endpoints are loaded
  const { organizationId } = await right.customer();
  await admin.query("BEGIN");
  await admin.query("SELECT 1 FROM org_balance WHERE org_id = $1 FOR UPDATE", [organizationId]);
  const clicks = [makeKey(right, organizationId)];
  await Bun.sleep(400); // it waits for the lock
  clicks.push(makeKey(ahead, organizationId));
  await Bun.sleep(700);
  await admin.query("COMMIT");
  const answers = await Promise.all(clicks);
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  const { rows } = await admin.query(
    "SELECT count(*)::int AS keys FROM api_key WHERE org_id = $1 AND name = 'once'",
    [organizationId],
  );
  expect(rows).toEqual([{ keys: 1 }]);
}, 120_000);

test("rows outside the money path have the database's time", async () => {
  const { organizationId } = await ahead.customer();
  const { secret } = await ahead.admin<{ secret: string }>("POST", "/keys", {
    org: organizationId,
    name: "stamps",
  });
  expect((await ahead.chat(secret, ask("no-such-model"))).status).toBe(404);
  const near = async (): Promise<boolean> => {
    const { rows } = await admin.query<{ off: string }>(
      "SELECT max(abs(at - (extract(epoch FROM clock_timestamp()) * 1000)::bigint)) AS off FROM journal WHERE org_id = $1",
      [organizationId],
    );
    return rows[0]?.off !== null && Number(rows[0]?.off) < SKEW_MS / 2;
  };
  await reads(near, true);
}, 120_000);

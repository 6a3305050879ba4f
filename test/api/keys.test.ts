// API keys (specification 2.3, 3, 5): shown once, limited by month, revoked at once and for good.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { nanoUsd } from "../../src/domain/money.ts";
import { testClock } from "../support/clock.ts";
import type { ErrorJson } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";
import { waitFor } from "../support/wait.ts";

const clock = testClock();
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ clock });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

interface KeyJson {
  id: string;
  prefix: string;
  last_four: string | null;
  status: string;
  month_spend_usd: string;
  last_used_at: string | null;
}

const keyOf = async (organizationId: string, keyId: string): Promise<KeyJson | undefined> => {
  const { json } = await gateway.admin<{ data: KeyJson[] }>("GET", `/keys?org=${organizationId}`);
  return json.data.find(({ id }) => id === keyId);
};

test("a key is shown whole once; afterwards only its prefix and its last four characters are", async () => {
  const customer = await gateway.customer();
  expect(customer.secret).toMatch(/^gw_sk_[0-9A-Za-z]+$/);
  const listed = await gateway.admin("GET", `/keys?org=${customer.organizationId}`);
  expect(listed.text).not.toContain(customer.secret);
  const key = await keyOf(customer.organizationId, customer.keyId);
  expect(customer.secret.startsWith(key?.prefix ?? "?")).toBe(true);
  expect(key?.last_four).toBe(customer.secret.slice(-4));
  expect(key?.prefix.length).toBeLessThan(customer.secret.length / 2);
});

test("neither the store nor the operator file holds a key's secret", async () => {
  const customer = await gateway.customer();
  const secretPart = customer.secret.slice(30);
  for (const name of ["tollgate.sqlite", "tollgate.sqlite-wal", "operator.json"]) {
    const file = Bun.file(`${gateway.dataDir}/${name}`);
    if (await file.exists()) expect(Buffer.from(await file.arrayBuffer()).includes(secretPart)).toBe(false);
  }
});

test("a revoked key stops on the very next request, a hundred times in a row", async () => {
  const { organizationId } = await gateway.customer();
  for (let round = 0; round < 100; round += 1) {
    const customer = await gateway.key(organizationId);
    expect((await gateway.chat(customer, hello())).status).toBe(200);
    await gateway.admin("POST", `/keys/${customer.keyId}/revoke`);
    const reply = await gateway.chat<ErrorJson>(customer, hello());
    expect([reply.status, reply.json.error.code]).toEqual([401, "api_key_revoked"]);
  }
});

test("a revocation does not cut a running stream; it is charged, and its spend stays", async () => {
  const customer = await gateway.customer();
  gateway.simulator.behave({ behaviour: { until_well: true, completion_tokens: 60 }, calls: 1 });
  const running = gateway.stream(customer, hello());
  await waitFor(async () => (await gateway.balance(customer)).held !== 0n, "its hold");
  await gateway.admin("POST", `/keys/${customer.keyId}/revoke`);
  gateway.simulator.behaveWell();
  expect((await running).events.done).toBe(true);
  expect((await keyOf(customer.organizationId, customer.keyId))?.month_spend_usd).toBe("0.000142000");
});

test("revoking twice is no error, and nothing restores a key", async () => {
  const customer = await gateway.customer();
  expect((await gateway.admin("POST", `/keys/${customer.keyId}/revoke`)).status).toBe(200);
  expect((await gateway.admin("POST", `/keys/${customer.keyId}/revoke`)).status).toBe(200);
  await gateway.admin("POST", `/keys/${customer.keyId}/limit`, { usd: "100" });
  expect((await gateway.chat(customer, hello())).status).toBe(401);
});

test("spend is tracked per key and month, and a used key says when", async () => {
  const customer = await gateway.customer();
  expect((await keyOf(customer.organizationId, customer.keyId))?.last_used_at).toBeNull();
  await gateway.chat(customer, hello());
  await gateway.chat(customer, hello());
  const key = await keyOf(customer.organizationId, customer.keyId);
  expect(key?.month_spend_usd).toBe("0.000200000");
  expect(Date.parse(key?.last_used_at ?? "")).toBeGreaterThan(clock.nowMs() - 10_000);
});

test("a key at its limit is blocked though the organization has credits; raising the limit opens it on the next request", async () => {
  const customer = await gateway.customer({ limitUsd: "0.0002" });
  expect((await gateway.chat(customer, hello())).status).toBe(200);
  expect((await gateway.chat(customer, hello())).status).toBe(200);
  const blocked = await gateway.chat<ErrorJson>(customer, hello());
  expect(blocked.status).toBe(403);
  expect(blocked.json.error).toMatchObject({
    code: "key_spend_limit_reached",
    details: {
      limit_usd: "0.000200000",
      spent_usd: "0.000200000",
      held_usd: "0.000000000",
      resets_at: expect.stringMatching(/-01T00:00:00/),
    },
  });
  expect(blocked.headers.get("x-should-retry")).toBe("false");
  const sister = await gateway.key(customer.organizationId);
  expect((await gateway.chat(sister, hello())).status).toBe(200);
  await gateway.admin("POST", `/keys/${customer.keyId}/limit`, { usd: "0.0003" });
  expect((await gateway.chat(customer, hello())).status).toBe(200);
  await gateway.admin("POST", `/keys/${customer.keyId}/limit`, { usd: null });
  expect((await gateway.chat(customer, hello())).status).toBe(200);
});

test("the calendar month opens a blocked key without any job", async () => {
  clock.set("2032-01-31T23:59:00Z");
  await gateway.publish({ ...PLAIN, version: 2 }, { nowMs: clock.nowMs() });
  const customer = await gateway.customer({ limitUsd: "0.0001" });
  expect((await gateway.chat(customer, hello())).status).toBe(200);
  expect((await gateway.chat(customer, hello())).status).toBe(403);
  clock.set("2032-02-01T00:00:01Z");
  expect((await gateway.chat(customer, hello())).status).toBe(200);
  expect((await gateway.chat(customer, hello())).status).toBe(403);
  const { month_spend_usd } = (await keyOf(customer.organizationId, customer.keyId)) ?? {};
  expect(month_spend_usd).toBe("0.000100000");
});

test("a request that runs over midnight is booked to the month of its admission", async () => {
  const customer = await gateway.customer();
  gateway.simulator.behave({ behaviour: { until_well: true }, calls: 1 });
  clock.set("2032-02-29T23:59:00.000Z");
  const running = gateway.chat<{ gateway: { request_id: string } }>(customer, hello());
  await waitFor(async () => (await gateway.balance(customer)).held > 0n, "its hold");
  clock.set("2032-03-01T00:00:00.500Z");
  gateway.simulator.behaveWell();
  const { json } = await running;
  const record = await gateway.request(json.gateway.request_id);
  expect(record.month).toBe("2032-02");
  expect(record.charge).toBe(nanoUsd(100_000n));
  expect((await keyOf(customer.organizationId, customer.keyId))?.month_spend_usd).toBe("0.000000000");
});

/** A key of a new organization, with these settings. */
async function keyWith(settings: object): Promise<Customer> {
  const key = await gateway.customer();
  const { status, text } = await gateway.admin("POST", `/keys/${key.keyId}/update`, settings);
  if (status !== 200) throw new Error(text);
  return key;
}

test("a key with a list of models sees and calls only those: /v1/models, quotes and counts respect it", async () => {
  const key = await keyWith({ allowed_models: ["base-preview-v1"] });
  const { json } = await gateway.get<{ data: { id: string }[] }>(key, "/v1/models");
  expect(json.data.map(({ id }) => id)).toEqual(["base-preview-v1"]);
  expect((await gateway.get(key, "/v1/models/plain-1")).status).toBe(404);
  const asked = async (path: string, body: object = hello()): Promise<[number, unknown]> => {
    const reply = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key.secret}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return [reply.status, await reply.json()];
  };
  const refused = { error: { code: "model_not_allowed", param: "model" } };
  expect(await asked("/v1/chat/completions")).toMatchObject([403, refused]);
  expect(await asked("/v1/chat/completions/quote")).toMatchObject([
    200,
    { admissible: false, binding_limit: "model", refusal: { code: "model_not_allowed" } },
  ]);
  const count = await asked("/v1/messages/count_tokens");
  expect(count[0]).toBe(403);
});

test("a key's output limit is priced, sent and shown as the model's own maximum", async () => {
  const key = await keyWith({ max_output_tokens: 7 });
  const quoted = await fetch(`${gateway.url}/v1/chat/completions/quote`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ ...hello(), max_tokens: 50 }),
  });
  expect(await quoted.json()).toMatchObject({ output_tokens_max: 7, output_tokens_source: "key_maximum" });
  gateway.simulator.behave({ behaviour: { completion_tokens: 60 }, calls: 1 });
  const { json } = await gateway.chat<{ usage: { completion_tokens: number } }>(key, hello());
  expect(json.usage.completion_tokens).toBe(7);
  const { json: models } = await gateway.get<{ data: { max_output_tokens: number }[] }>(key, "/v1/models");
  expect(new Set(models.data.map(({ max_output_tokens }) => max_output_tokens))).toEqual(new Set([7]));
});

test("a key tells its limits, its models and its end; a day that is spent says when it opens", async () => {
  const expires_at = new Date(clock.nowMs() + 40 * 86_400_000).toISOString();
  const key = await keyWith({ day_limit_usd: "0.0001", week_limit_usd: "5", limit_usd: "9", expires_at });
  expect((await gateway.chat(key, hello())).status).toBe(200);
  const { json: told } = await gateway.get(key, "/v1/key");
  expect(told).toMatchObject({ remaining_usd: "0.000000000", allowed_models: null, expires_at });
  expect(told["limits"]).toMatchObject([
    { period: "day", spent_usd: "0.000100000" },
    { period: "week", limit_usd: "5.000000000" },
    { period: "month" },
  ]);
  const refused = await gateway.chat<ErrorJson>(key, hello());
  expect([refused.status, refused.json.error.details]).toMatchObject([
    403,
    { period: "day", resets_at: expect.stringMatching(/T00:00:00.000Z$/) },
  ]);
  await gateway.admin("POST", `/keys/${key.keyId}/update`, { day_limit_usd: null });
  expect((await gateway.chat(key, hello())).status).toBe(200);
});

test("a key is replaced: its successor has its settings, and it ends by itself after the overlap", async () => {
  const key = await keyWith({ day_limit_usd: "3", max_output_tokens: 9 });
  const { json, status } = await gateway.admin<KeyJson & { secret: string }>(
    "POST",
    `/keys/${key.keyId}/replace`,
    { overlap_hours: 2 },
  );
  expect([status, json]).toMatchObject([201, { day_limit_usd: "3.000000000", max_output_tokens: 9 }]);
  const successor = { ...key, keyId: json.id, secret: json.secret };
  expect((await gateway.chat(key, hello())).status).toBe(200);
  clock.advance(2 * 3_600_000);
  const over = await gateway.chat<ErrorJson>(key, hello());
  expect([over.status, over.json.error.code]).toEqual([401, "api_key_expired"]);
  expect((await gateway.chat(successor, hello())).status).toBe(200);
  expect((await gateway.admin("POST", `/keys/${key.keyId}/replace`, {})).status).toBe(409);
});

test("impossible settings of a key are refused by name", async () => {
  const { keyId } = await gateway.customer();
  for (const [settings, param] of [
    [{ expires_at: "2001-01-01" }, "expires_at"],
    [{ allowed_models: [] }, "allowed_models"],
    [{ max_output_tokens: 0 }, "max_output_tokens"],
    [{ day_limit_usd: "-1" }, "day_limit_usd"],
    [{}, null],
  ] as const) {
    const { status, json } = await gateway.admin<ErrorJson>("POST", `/keys/${keyId}/update`, settings);
    expect([status, json.error.param]).toEqual([400, param]);
  }
});

test("an operator renames a key; its settings stay", async () => {
  const customer = await gateway.customer();
  const { json } = await gateway.admin("POST", `/keys/${customer.keyId}/rename`, { name: "Batch" });
  expect(json).toMatchObject({ id: customer.keyId, name: "Batch", status: "active" });
  expect((await gateway.chat(customer, hello())).status).toBe(200);
  const blank = await gateway.admin("POST", `/keys/${customer.keyId}/rename`, { name: " " });
  expect(blank.status).toBe(400);
  expect((await gateway.admin("POST", "/keys/key_doesnotexist/rename", { name: "x" })).status).toBe(404);
});

// Three gateways, each in a separate process, on one database: a decision of one applies to all, at once (money.md
// §10, §12). Tests that wait for a killed gateway's lease have three gateways of their own, and run beside the
// longest of the others.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { formatUsd, nanoUsd, parseUsd } from "../../src/domain/money.ts";
import { PLAIN, UNCOUNTED } from "../support/models.ts";
import { untilParts } from "../support/process-gateway.ts";
import { testPostgres } from "../support/postgres.ts";
import { Replicas } from "../support/replicas.ts";
import { reads } from "../support/wait.ts";
import { untilProgressKept } from "../support/progress.ts";

let replicas: Replicas;
beforeAll(async () => {
  replicas = await Replicas.start(3, await testPostgres());
}, 240_000);
afterAll(() => replicas.stop());

const ask = (content: string, more: object = {}): object => ({
  model: "plain-1",
  messages: [{ role: "user", content }],
  max_tokens: 100,
  ...more,
});

test.concurrent("a key revoked on one gateway is refused by the next request on another, a thousand times in a row", async () => {
  const { organizationId } = await replicas.first.customer();
  let accepted = 0;
  const revokeAndAsk = async (round: number): Promise<void> => {
    const by = replicas.at(round);
    const { id, secret } = await by.admin<{ id: string; secret: string }>("POST", "/keys", {
      org: organizationId,
      name: `key ${round}`,
    });
    await by.admin("POST", `/keys/${id}/revoke`);
    const { status } = await replicas.at(round + 1).chat(secret, ask("Hello"));
    if (status !== 401) accepted += 1;
  };
  for (let round = 0; round < 1000; round += 4)
    await Promise.all([0, 1, 2, 3].map((step) => revokeAndAsk(round + step)));
  expect(accepted).toBe(0);
  expect(await replicas.calls()).toBe(0);
}, 600_000);

test.concurrent("a gateway that is killed in mid-stream: the others charge what was delivered, and answer the retry", async () => {
  const replicas = await Replicas.start(3, await testPostgres());
  try {
    await replicas.simulate({ tokens_per_second: 40, completion_tokens: 400 });
    const { organizationId, secret } = await replicas.first.customer();
    const headers = { "idempotency-key": "killed-in-stream" };
    const body = ask("Tell me something long", { stream: true, max_tokens: 500 });
    const before = await replicas.calls();
    const doomed = replicas.at(2).listen(secret, body, headers);
    await untilParts([doomed], 20);
    await untilProgressKept(replicas.database.url);
    await replicas.at(2).kill();
    await doomed.ended;
    const unkept = await replicas.at(1).chat(secret, body, headers); // follows the dead stream until it is swept
    expect(unkept.status).toBe(200);
    await reads(async () => (await replicas.balance(organizationId)).held_usd, "0.000000000");
    expect(Number((await replicas.balance(organizationId)).spent_usd)).toBeGreaterThan(0);
    const retry = await replicas.at(0).chat(secret, body, headers);
    expect([retry.status, retry.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(retry.text).toContain("provider_error");
    expect(await replicas.calls()).toBe(before + 1);
    expect(await replicas.audit()).toMatchObject({ ok: true, violations: [] });
  } finally {
    await replicas.stop();
  }
}, 240_000);

describe("200 concurrently over three gateways, every call costing its whole hold", () => {
  beforeAll(async () => {
    await replicas.first.publish(UNCOUNTED);
    // A request that costs its whole hold releases nothing to later ones, however slow the machine.
    const usage = { prompt_tokens: 100_000, completion_tokens: 100_000 };
    await replicas.simulate({ latency_ms: 500, usage });
  });
  afterAll(() => replicas.simulate({}));

  /** 200 callers on credits for seven holds; the hold of each call, in nano-dollars. */
  async function flood(model: string) {
    const { organizationId, secret } = await replicas.first.customer();
    const hold = await holdOf(organizationId, () => replicas.first.chat(secret, ask("Hello", { model })));
    const before = await replicas.calls();
    const { id } = await replicas.first.admin<{ id: string }>("POST", "/organizations", {
      name: "Exactly 7",
    });
    await replicas.first.admin("POST", "/credits", {
      org: id,
      usd: formatUsd(seven(hold)),
      kind: "purchase",
    });
    const key = await replicas.first.admin<{ secret: string }>("POST", "/keys", { org: id, name: "test" });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => replicas.at(n).chat(key.secret, ask("Hello", { model }))),
    );
    const [served, refused] = [200, 402].map((code) => answers.filter(({ status }) => status === code));
    const charges = (served ?? []).map(({ text }) => usdOf(chargeIn(text)));
    const { available_usd, held_usd, spent_usd } = await replicas.balance(id);
    expect(held_usd).toBe("0.000000000");
    // Every served call was paid, at most with its hold, and the provider saw no other.
    expect(charges.every((charge) => charge > 0n && charge <= hold)).toBe(true);
    expect(usdOf(spent_usd)).toBe(charges.reduce((sum, charge) => sum + charge, 0n));
    expect(usdOf(spent_usd) + usdOf(available_usd)).toBe(seven(hold));
    expect((await replicas.calls()) - before).toBe(charges.length);
    return { served: charges.length, refused: refused?.length, available: usdOf(available_usd) };
  }

  test("credits for exactly seven serve seven", async () => {
    // Its bound equals its count: no running hold can be lowered, at any gateway.
    expect(await flood(UNCOUNTED.model)).toEqual({ served: 7, refused: 193, available: 0n });
  }, 240_000);

  test("if a gateway may lower its own requests' holds, seven or more are served, each paid", async () => {
    const { served, refused } = await flood(PLAIN.model);
    expect(served + (refused ?? 0)).toBe(200);
    expect(served).toBeGreaterThanOrEqual(7);
  }, 240_000);
});

const usdOf = (text: string | undefined): bigint => parseUsd(text ?? "") ?? -1n;
const seven = (hold: bigint) => nanoUsd(7n * hold);
const chargeIn = (text: string): string =>
  (JSON.parse(text) as { gateway: { cost: { customer_charge_usd: string } } }).gateway.cost
    .customer_charge_usd;

/** The hold of a call, in nano-dollars: read while it runs. */
async function holdOf(organizationId: string, call: () => Promise<unknown>): Promise<bigint> {
  const running = call();
  let held = 0n;
  while (held === 0n) held = usdOf((await replicas.balance(organizationId)).held_usd);
  await running;
  return held;
}

test.each([false, true])(
  "50 × one key over three gateways (stream: %p): one dispatch, 50 identical answers",
  async (stream) => {
    await replicas.simulate({ tokens_per_second: 60, completion_tokens: 90 });
    const before = await replicas.calls();
    const { organizationId, secret } = await replicas.first.customer();
    const headers = { "idempotency-key": `fifty-copies-${stream}` };
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => replicas.at(n).chat(secret, ask("Tell me", { stream }), headers)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(50).fill(200));
    const bodies = new Set(answers.map(({ text }) => withoutKeepAlive(text)));
    expect(bodies.size).toBe(1);
    expect([...bodies][0]).toContain(stream ? "[DONE]" : '"customer_charge_usd"');
    expect(await replicas.calls()).toBe(before + 1);
    const { spent_usd, held_usd } = await replicas.balance(organizationId);
    expect([Number(spent_usd) > 0, held_usd]).toEqual([true, "0.000000000"]);
    await replicas.simulate({});
  },
  240_000,
);

/** Comments keep a quiet stream open; they are not part of the answer. */
const withoutKeepAlive = (text: string): string => text.replaceAll(/^:.*\n\n?/gm, "");

test("what one gateway publishes, closes and opens applies to the next request of the others", async () => {
  const { secret } = await replicas.first.customer();
  const [{ route }] = (await replicas.first.admin<{ data: [{ route: string }] }>("GET", "/routes")).data;
  const next = async (round: number): Promise<number | null> =>
    (await replicas.at(round + 1).chat(secret, ask("Hello"))).status;
  for (let round = 0; round < 12; round += 1) {
    await replicas.at(round).admin("POST", "/routes/disable", { route, reason: "test" });
    expect(await next(round)).toBe(503);
    await replicas.at(round).admin("POST", "/routes/enable", { route });
    expect(await next(round)).toBe(200);
    await replicas.at(round).publish({ ...PLAIN, version: round + 2 });
    expect(await next(round)).toBe(200);
    await replicas.at(round).publish({ ...PLAIN, model: `new-${round}` });
    const answer = await replicas.at(round + 1).chat(secret, ask("Hello", { model: `new-${round}` }));
    expect(answer.status).toBe(200);
  }
});

test("the ledger is sound after all this", async () => {
  expect(await replicas.audit()).toMatchObject({ ok: true, violations: [] });
});

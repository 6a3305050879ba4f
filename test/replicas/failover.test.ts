// The primary dies under load and its synchronous standby takes over: every answer that a client has is in the
// ledger, none is in it twice, and the gateways recover by themselves (money.md §12, fault 7).
import { expect, test } from "bun:test";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { PostgresServer } from "../support/postgres.ts";
import { Replicas } from "../support/replicas.ts";
import { reads, waitFor } from "../support/wait.ts";

test("a synchronous standby is promoted: no acknowledged answer is lost, the audit is clean", async () => {
  const primary = await PostgresServer.start();
  const standby = await primary.standby();
  const { url } = await primary.migrated();
  const proxy = await CuttingProxy.start(url);
  const throughProxy = { url: proxy.through(url), drop: async () => {} };
  const replicas = await Replicas.start(2, { migrated: async () => throughProxy });
  try {
    const { organizationId, secret } = await replicas.first.customer();
    const told: number[] = [];
    const statuses = new Set<number | null>();
    let stop = false;
    const client = async (n: number): Promise<void> => {
      while (!stop) {
        const answer = await replicas.at(n).chat(secret, {
          model: "plain-1",
          messages: [{ role: "user", content: "Hello" }],
          max_tokens: 50,
        });
        statuses.add(answer.status);
        if (answer.status === 200) told.push(chargeIn(answer.text));
        else await Bun.sleep(50);
      }
    };
    const clients = Array.from({ length: 8 }, (_, n) => client(n));
    await waitFor(async () => told.length > 20, "answers");
    await primary.crash();
    const before = told.length;
    await standby.promote();
    proxy.moveTo(standby.url);
    while ((await replicas.first.get("/readyz")).status !== 200) await Bun.sleep(50);
    await waitFor(async () => told.length > before + 20, "answers after the fail-over");
    stop = true;
    await Promise.all(clients);
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    await reads(async () => (await replicas.balance(organizationId)).held_usd, "0.000000000");
    const balance = await replicas.balance(organizationId);
    expect(Number(balance.spent_usd)).toBeCloseTo(
      told.reduce((sum, charge) => sum + charge, 0),
      6,
    );
    expect(await replicas.audit()).toMatchObject({ ok: true, violations: [] });
  } finally {
    await replicas.stop();
    await proxy.stop();
    await standby.stop();
    await primary.stop();
  }
}, 120_000);

const chargeIn = (text: string): number =>
  Number([...text.matchAll(/"customer_charge_usd":([0-9.e-]+)/g)].at(-1)?.[1]);

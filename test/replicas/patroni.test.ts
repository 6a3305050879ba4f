// A failover decided by Patroni, under traffic, if Debian's packages are installed: the leader's machine is lost, the
// synchronous follower takes over by itself, and the gateways, which reach the current leader through one address as
// behind HAProxy, continue. Nothing that was acknowledged is missing, and everything is charged once.
import { expect, test } from "bun:test";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { NO_PATRONI, Patroni } from "../support/patroni.ts";
import type { Received } from "../support/process-gateway.ts";
import { Replicas } from "../support/replicas.ts";
import { reads, waitFor } from "../support/wait.ts";

if (NO_PATRONI !== null) console.warn(`patroni.test.ts: nothing fails over here: ${NO_PATRONI}`);

/** A lost leader keeps its lease for 20 s; then there is an election, and a recovery. */
const ELECTED_WITHIN_MS = 60_000;
const ask = { model: "plain-1", messages: [{ role: "user", content: "Hello" }], max_tokens: 50 };
const chargeOf = ({ text }: Received): number =>
  Number(/"customer_charge_usd":\s*([\d.]+)/.exec(text)?.[1] ?? Number.NaN);

test.skipIf(NO_PATRONI !== null)(
  "the leader is lost, the follower takes over by itself: all answers before and after are charged, each once",
  async () => {
    const patroni = await Patroni.start();
    const url = (await patroni.leader()) ?? "";
    const proxy = await CuttingProxy.start(url);
    const database = { url: proxy.through(url), drop: async () => {} };
    try {
      await waitFor(() => patroni.followed(), "a synchronous follower");
      const replicas = await Replicas.start(2, { migrated: async () => database });
      const { organizationId, secret } = await replicas.first.customer();
      const answers: Received[] = [];
      const served = (): Received[] => answers.filter(({ status }) => status === 200);
      let stop = false;
      const send = async (n: number, key: string): Promise<Received["status"]> => {
        const answer = await replicas.at(n).chat(secret, ask, { "idempotency-key": `failover-${key}` });
        answers.push(answer);
        return answer.status;
      };
      const traffic = [0, 1, 2, 3].map(async (n) => {
        for (let at = 0; !stop; at += 1) if ((await send(n, `${n}-${at}`)) !== 200) await Bun.sleep(200);
      });
      await waitFor(async () => served().length >= 20, "answers");
      await patroni.loseLeader();
      // Read again and again: a request being settled when the database goes waits for the next one.
      let asked = 0;
      await waitFor(
        async () => (await send(asked, `without-${asked++}`)) === 503,
        "a refusal without a database",
      );
      const until = performance.now() + ELECTED_WITHIN_MS;
      let leader = await patroni.leader();
      while (leader === null && performance.now() < until) {
        await Bun.sleep(200);
        leader = await patroni.leader();
      }
      if (leader === null) throw new Error(`nobody leads: ${patroni.said()}`);
      expect(leader).not.toBe(url);
      proxy.moveTo(leader);
      const before = served().length;
      await waitFor(async () => served().length >= before + 20, "answers after it");
      stop = true;
      await Promise.all(traffic);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 503]));
      await reads(async () => (await replicas.balance(organizationId)).held_usd, "0.000000000");
      const { spent_usd } = await replicas.balance(organizationId);
      expect(Number(spent_usd)).toBeCloseTo(
        served().reduce((sum, answer) => sum + chargeOf(answer), 0),
        9,
      );
      expect(await replicas.audit()).toMatchObject({ ok: true, violations: [] });
      await replicas.stop();
    } finally {
      await proxy.stop();
      await patroni.stop();
    }
  },
  180_000,
);

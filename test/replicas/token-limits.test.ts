// Token limits over several gateways: none of them can lower what another one has reserved by the bytes of a prompt, so long prompts
// are counted before they take much of a limit (docs/decisions/0103-token-limits-count-when-the-bound-refuses.md).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { testPostgres } from "../support/postgres.ts";
import { Replicas } from "../support/replicas.ts";
import { waitFor } from "../support/wait.ts";

let replicas: Replicas;
beforeAll(async () => {
  replicas = await Replicas.start(2, await testPostgres());
}, 60_000);
afterAll(() => replicas.stop());

/** Some 100 KB, 20,000 tokens. */
const LONG = "A sentence of ordinary words takes fewer tokens than it has bytes. ".repeat(1500);

test("agents on two gateways run beside each other under a limit that they do not reach together, never above it", async () => {
  const { organizationId: org, secret } = await replicas.first.customer();
  await replicas.first.admin("POST", "/limits", { org, tokens_per_minute: 110_000 });
  await replicas.simulate({ latency_ms: 1500 });
  const beganMs = performance.now();
  const messages = [{ role: "user", content: LONG }];
  const ask = (index: number) =>
    replicas.at(index).chat(secret, { model: "plain-1", messages, max_tokens: 100 });
  const first = ask(0);
  await waitFor(async () => (await replicas.calls()) === 1, "the first call");
  // Nothing on this gateway is there to be lowered.
  const replies = [
    await ask(1),
    ...(await Promise.all(Array.from({ length: 10 }, (_, n) => ask(n)))),
    await first,
  ];
  const minutes = (performance.now() - beganMs) / 60_000;
  expect([replies[0]?.status, replies.at(-1)?.status]).toEqual([200, 200]);
  // 19,625 tokens each, 100,746 by their bytes.
  expect(replies.filter(({ status }) => status === 200).length).toBeWithin(
    5,
    1 + (110_000 + 110_000 * minutes) / 19_625,
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 429]));
  expect(await replicas.audit()).toMatchObject({ ok: true, violations: [] });
}, 60_000);

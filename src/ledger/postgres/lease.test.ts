import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Jobs } from "../../lib/jobs.ts";
import type { PostgresStore } from "../../store/postgres.ts";
import type { DatabaseClock } from "../database-clock.ts";
import { Lease } from "./lease.ts";

interface Asked {
  text: string;
  query_timeout?: number;
}

const taken: Lease[] = [];
afterAll(async () => {
  for (const lease of taken) await lease.release();
});

/** Runs a lease on a database that answers renewals as given; resolves with the milliseconds between the first two. */
async function betweenRenewals(renewal: (asked: Asked, n: number) => Promise<void>): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const atMs: number[] = [];
  const query = async (asked: Asked): Promise<{ rows: bigint[][] }> => {
    if (asked.text.includes("NOT condemned")) {
      atMs.push(performance.now());
      if (atMs.length === 2) resolve((atMs[1] ?? 0) - (atMs[0] ?? 0));
      await renewal(asked, atMs.length);
    }
    return { rows: [[BigInt(Date.now())]] };
  };
  const store = {
    pool: { query },
    dataKey: new Uint8Array(32),
    nextEpoch: async () => 7,
  } as unknown as PostgresStore;
  const lease = await Lease.take(store, {
    clock: { read: () => {} } as unknown as DatabaseClock,
    jobs: { failed: () => {} } as unknown as Jobs,
    begins: () => {},
    lost: () => {},
  });
  taken.push(lease);
  return promise;
}

// These tests wait for real seconds, so they run concurrently.
setDefaultTimeout(120_000);
test.concurrent("a failed renewal is retried at once, not when the next one is due", async () => {
  const ms = await betweenRenewals(async (_, n) => {
    if (n === 1) throw new Error("Connection terminated unexpectedly");
  });
  expect(ms).toBeLessThan(2_000); // when the next one is due
});

/** From one renewal to the end of the lease, minus the two seconds until the next one is due. */
const LEFT_MS = 8_000;

test.concurrent("a renewal without an answer is abandoned within half of the remaining lease, and retried", async () => {
  const ms = await betweenRenewals(async ({ query_timeout: withinMs = 7_000 }, n) => {
    if (n > 1) return;
    await Bun.sleep(withinMs);
    throw new Error("Query read timeout");
  });
  expect(ms).toBeLessThan(LEFT_MS - 1_500);
});

test.concurrent("a renewal as slow as a batch may be does not fail", async () => {
  const ms = await betweenRenewals(async ({ query_timeout: withinMs = 7_000 }, n) => {
    if (n > 1) return;
    await Bun.sleep(Math.min(withinMs, 3_500));
    if (withinMs < 3_500) throw new Error("Query read timeout");
  });
  expect(ms).toBeGreaterThan(5_000); // renewed, and left alone for two seconds
});

test.concurrent("a renewed lease is not renewed again for two seconds", async () => {
  expect(await betweenRenewals(async () => {})).toBeGreaterThan(1_900);
});

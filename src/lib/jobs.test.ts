// Background work of each kind fails in each way: it is counted and reported under its name, and continues.
import { expect, test } from "bun:test";
import { Jobs } from "./jobs.ts";

function jobs(tell: (job: string) => void = () => {}): { jobs: Jobs; told: string[] } {
  const told: string[] = [];
  return {
    told,
    jobs: new Jobs({
      tell: (job, error) => {
        told.push(`${job}: ${String(error)}`);
        tell(job);
      },
      expected: (error) => error === "the store is away",
    }),
  };
}

/** A condition holds almost at once, except on a busy machine. */
const PATIENCE_MS = 60_000;

const until = async (holds: () => boolean): Promise<void> => {
  const endMs = performance.now() + PATIENCE_MS;
  while (!holds() && performance.now() < endMs) await Bun.sleep(2);
  expect(holds()).toBe(true);
};

const FAILURES: [how: string, fail: () => Promise<void>][] = [
  ["rejects", () => Promise.reject(new Error("no"))],
  [
    "throws before its first await",
    () => {
      throw new Error("no");
    },
  ],
];

test.each(FAILURES)("a repeating job continues when a run %s", async (_, fail) => {
  const { jobs: on, told } = jobs();
  let runs = 0;
  const repeating = on.every("sweep", 1, () => ((runs += 1) === 2 ? fail() : Promise.resolve()));
  await until(() => runs >= 4);
  expect(told).toEqual(["sweep: Error: no"]);
  expect(on.failures).toEqual(new Map([["sweep", 1]]));
  await repeating.stop();
});

test("nor does it stop when the failure's reporter throws", async () => {
  const { jobs: on } = jobs(() => {
    throw new Error("the log is full");
  });
  let runs = 0;
  const repeating = on.every("sweep", 1, async () => {
    runs += 1;
    throw new Error("no");
  });
  await until(() => runs >= 4);
  await repeating.stop();
  expect(on.failures.get("sweep")).toBe(runs);
});

test("a run may choose the next pause, and a caller of it now waits for its end", async () => {
  const { jobs: on } = jobs();
  let runs = 0;
  const repeating = on.every("sweep", 1_000_000, async () => {
    runs += 1;
    return runs < 3 ? 1 : undefined;
  });
  await repeating.now();
  expect(runs).toBe(1);
  await until(() => runs === 3);
  await Bun.sleep(20);
  expect(runs).toBe(3);
  await repeating.stop();
});

test("a tick that throws continues until it is stopped", async () => {
  const { jobs: on, told } = jobs();
  let ticks = 0;
  const stop = on.tick("comments", 1, () => {
    ticks += 1;
    if (ticks === 1) throw new Error("no");
  });
  await until(() => ticks >= 3);
  stop();
  const then = ticks;
  await Bun.sleep(20);
  expect(ticks).toBe(then);
  expect(told).toEqual(["comments: Error: no"]);
});

test.each(FAILURES)("background work that %s is reported, and its caller continues", async (_, fail) => {
  const { jobs: on, told } = jobs();
  on.run("take_back", fail);
  on.guarded("take_back", fail)();
  await until(() => told.length === 2);
  expect(on.failures.get("take_back")).toBe(2);
});

test("an unavailable store is not the job's failure", async () => {
  const { jobs: on, told } = jobs();
  on.run("sweep", () => Promise.reject("the store is away")); // eslint-disable-line prefer-promise-reject-errors
  await Bun.sleep(5);
  expect([told, on.failures.size]).toEqual([[], 0]);
});

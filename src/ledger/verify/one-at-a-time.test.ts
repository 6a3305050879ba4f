import { expect, test } from "bun:test";
import { oneAtATime } from "./one-at-a-time.ts";

interface Run {
  end(result: number): void;
  fail(error: Error): void;
}

function started(): { runs: Run[]; ask: () => Promise<number> } {
  const runs: Run[] = [];
  const ask = oneAtATime<number>(
    () => new Promise((resolve, reject) => runs.push({ end: resolve, fail: reject })),
  );
  return { runs, ask };
}

test("callers during a run share the next run, which begins after their call", async () => {
  const { runs, ask } = started();
  const first = ask();
  const others = [ask(), ask(), ask()];
  expect(runs).toHaveLength(1);
  runs[0]?.end(1);
  expect(await first).toBe(1);
  expect(runs).toHaveLength(2);
  const later = ask();
  runs[1]?.end(2);
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
  expect(runs).toHaveLength(3);
  runs[2]?.end(3);
  expect(await later).toBe(3);
});

test("a failed run does not affect later ones", async () => {
  const { runs, ask } = started();
  const first = ask();
  const second = ask();
  runs[0]?.fail(new Error("gone"));
  expect(await first.catch((error: Error) => error.message)).toBe("gone");
  runs[1]?.end(2);
  expect(await second).toBe(2);
  const third = ask();
  runs[2]?.end(3);
  expect(await third).toBe(3);
});

import { expect, test } from "bun:test";
import { Lines } from "./lines.ts";

/** Work items that begin when their turn comes and end when told to. */
function pieces(on: Lines) {
  const told: string[] = [];
  const ask = (place: string, by: string, nth: number) => {
    const name = `${place} ${by}${nth}`;
    const gate = Promise.withResolvers<void>();
    const done = on.run({ place, by }, async () => {
      told.push(name);
      await gate.promise;
      return name;
    });
    return { done, end: gate.resolve, fail: () => gate.reject(new Error(`${name} failed`)) };
  };
  return { told, ask };
}

test("work of one place runs one at a time, whatever the outcome of the previous; other places do not wait", async () => {
  const { told, ask } = pieces(new Lines(1));
  const first = ask("here", "a", 1);
  const failed = first.done.catch((error: Error) => error.message);
  const second = ask("here", "a", 2);
  const there = ask("there", "a", 3);
  there.end();
  expect(await there.done).toBe("there a3");
  expect(told).toEqual(["here a1", "there a3"]);
  first.fail();
  expect(await failed).toBe("here a1 failed");
  second.end();
  expect(await second.done).toBe("here a2");
  const again = ask("here", "a", 4);
  again.end();
  expect(await again.done).toBe("here a4");
});

test("a caller with one item waits for at most one item of a caller with many", async () => {
  const { told, ask } = pieces(new Lines(1));
  const many = Array.from({ length: 4 }, (_, nth) => ask("here", "much", nth));
  const others = [ask("here", "little", 0), ask("here", "some", 0), ask("here", "some", 1)];
  for (const { end } of [...many, ...others]) end();
  await Promise.all([...many, ...others].map(({ done }) => done));
  expect(told.map((name) => name.slice("here ".length))).toEqual([
    "much0",
    "much1",
    "little0",
    "some0",
    "much2",
    "some1",
    "much3",
  ]);
});

test("as many run at once as allowed, and each end starts the next", async () => {
  const { told, ask } = pieces(new Lines(2));
  const asked = Array.from({ length: 5 }, (_, nth) => ask("here", "a", nth));
  expect(told).toHaveLength(2);
  asked[1]?.end();
  await asked[1]?.done;
  await Bun.sleep(0);
  expect(told).toHaveLength(3);
  for (const { end } of asked) end();
  await Promise.all(asked.map(({ done }) => done));
  expect(told).toEqual(["here a0", "here a1", "here a2", "here a3", "here a4"]);
});

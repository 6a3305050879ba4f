// Which long work runs when, on a clock and turns of the test's own.
import { expect, test } from "bun:test";
import { Refusal } from "../domain/refusals.ts";
import { Pacer } from "./pacer.ts";

const PIECE_MS = 12;

class Loop {
  nowMs = 0;
  readonly done: string[] = [];
  private rest: { ms: number; resume: () => void } | null = null;
  readonly pacer = new Pacer({
    nowMs: () => this.nowMs,
    later: (ms, resume) => {
      expect(this.rest).toBeNull();
      this.rest = { ms, resume };
    },
  });

  /** A piece of work with this name, which takes its time. */
  run(name: string, organizationId: string, signal = new AbortController().signal): Promise<string> {
    return this.pacer.run({ organizationId, bytes: 1, signal }, () => {
      this.nowMs += PIECE_MS;
      this.done.push(name);
      return name;
    });
  }

  /** Ends the current rest and returns its length; null if there is none. */
  turn(): number | null {
    const { rest } = this;
    this.rest = null;
    rest?.resume();
    return rest?.ms ?? null;
  }
}

test("the first piece is done at once, the next one after a rest as long as the first took", async () => {
  const loop = new Loop();
  const pieces = ["a", "b"].map((name) => loop.run(name, "org"));
  expect(loop.done).toEqual(["a"]);
  expect(loop.turn()).toBe(PIECE_MS);
  expect(loop.done).toEqual(["a", "b"]);
  expect(await Promise.all(pieces)).toEqual(["a", "b"]);
  expect([loop.turn(), loop.turn()]).toEqual([PIECE_MS, null]);
  void loop.run("c", "org");
  expect(loop.done).toEqual(["a", "b", "c"]);
});

test("an organization with many pieces delays another one's first by two at most", () => {
  const loop = new Loop();
  for (let n = 0; n < 40; n += 1) void loop.run(`many ${n}`, "many");
  void loop.run("one", "few");
  for (let turns = 0; turns < 2; turns += 1) loop.turn();
  expect(loop.done).toEqual(["many 0", "many 1", "one"]);
  while (loop.turn() !== null);
  expect(loop.done.slice(3)).toEqual(Array.from({ length: 38 }, (_, n) => `many ${n + 2}`));
});

test("whoever leaves is out of the queue, and its piece is never done", async () => {
  const loop = new Loop();
  const client = new AbortController();
  void loop.run("first", "org");
  const waiting = loop.run("left", "org", client.signal);
  const behind = loop.run("behind", "org");
  client.abort();
  expect(await waiting.catch((error: unknown) => error)).toBeInstanceOf(Refusal);
  loop.turn();
  expect(await behind).toBe("behind");
  const late = loop.run("late", "org", client.signal);
  expect(await late.catch((error: unknown) => error)).toBeInstanceOf(Refusal);
  while (loop.turn() !== null);
  expect(loop.done).toEqual(["first", "behind"]);
});

test("a piece that throws is told so, and the next one has its turn", async () => {
  const loop = new Loop();
  const { signal } = new AbortController();
  const thrown = loop.pacer.run({ organizationId: "org", bytes: 1, signal }, () => {
    throw new Error("a bug");
  });
  void loop.run("next", "org");
  expect(await thrown.catch(String)).toBe("Error: a bug");
  loop.turn();
  expect(loop.done).toEqual(["next"]);
});

test("by the real loop, what is ready goes in between two pieces", async () => {
  const pacer = new Pacer();
  const order: string[] = [];
  const { signal } = new AbortController();
  const piece = (name: string): Promise<unknown> =>
    pacer.run({ organizationId: "org", bytes: 1, signal }, () => {
      for (const untilMs = performance.now() + 5; performance.now() < untilMs; );
      order.push(name);
    });
  setImmediate(() => order.push("short"));
  await Promise.all(["first", "second"].map(piece));
  expect(order).toEqual(["first", "short", "second"]);
});

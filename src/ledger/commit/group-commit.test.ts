// The shutdown of a group commit: no caller waits beyond it, and it leaves no connection open, whatever its store was doing.
import { expect, test } from "bun:test";
import { Refusal } from "../../domain/refusals.ts";
import { jobsOnStderr } from "../../lib/jobs.ts";
import { noChanges } from "../rows.ts";
import { GroupCommit, type GroupCommitPorts } from "./group-commit.ts";
import type { Trace, Writer } from "./writer.ts";
import { type Committed, UnknownCommit } from "./unknown-commit.ts";

class FakeWriter implements Writer<string, string> {
  closed = 0;

  constructor(
    readonly commit: (operations: readonly string[]) => Committed<string>[],
    readonly happened: () => Promise<Trace> = async () => "no",
  ) {}

  hasRoom(): boolean {
    return true;
  }

  async close(): Promise<void> {
    this.closed += 1;
  }
}

const takes = (operations: readonly string[]): Committed<string>[] =>
  operations.map((operation) => ({ kind: "outcome", outcome: `${operation} is done` }));

const losesItsAnswer = (operations: readonly string[]): Committed<string>[] => {
  throw new UnknownCommit(1, noChanges(), takes(operations), new Error("the connection is gone"));
};

const CUT = new Error("terminating connection due to idle-in-transaction timeout");
const isCut = (): Committed<string>[] => {
  throw CUT;
};

const FULL = new Error("could not extend file: No space left on device");

const groupCommit = (open: GroupCommitPorts<string, string>["open"]): GroupCommit<string, string> =>
  new GroupCommit({
    open,
    errorKind: () => "store",
    wasRefused: (error) => error === FULL,
    wasCutIdle: (error) => error === CUT,
    rank: (operation) => (operation === "settle" ? 0 : 2),
    outlives: (operation) => operation === "settle",
    spool: { keep: () => {}, taken: () => {} },
    takeBack: () => {},
    pulse: { committed: () => {} },
    jobs: jobsOnStderr(),
    queue: 10,
  });

/** A condition holds almost at once, except on a busy machine. */
const PATIENCE_MS = 60_000;

const until = async (holds: () => boolean): Promise<void> => {
  const endMs = performance.now() + PATIENCE_MS;
  while (!holds() && performance.now() < endMs) await Bun.sleep(2);
  expect(holds()).toBe(true);
};

/** Returns what a caller is told; "waits" if it has not been answered. */
const toldTo = (caller: Promise<unknown>): Promise<unknown> =>
  Promise.race([
    caller.catch((error: unknown) => (error instanceof Refusal ? error.code : error)),
    Bun.sleep(500).then(() => "waits"),
  ]);

test.each(["admit", "settle"])(
  "an operation whose commit is unknown is refused at the end: %s",
  async (operation) => {
    const writers = [new FakeWriter(losesItsAnswer)];
    const commits = groupCommit(async () => {
      const writer = writers.shift();
      if (writer === undefined) throw new Error("the database is away");
      return writer;
    });
    const caller = toldTo(commits.submit(operation));
    await until(() => commits.trouble !== null);
    await commits.close();
    expect(await caller).toBe("overloaded");
  },
);

test("an operation whose unknown commit is being looked up at the end is refused", async () => {
  let found: (trace: Trace) => void = () => {};
  const second = new FakeWriter(takes, () => new Promise((resolve) => (found = resolve)));
  const looking = Promise.withResolvers<void>();
  const writers = [new FakeWriter(losesItsAnswer), second];
  const commits = groupCommit(async () => {
    const writer = writers.shift();
    if (writer === undefined) throw new Error("the database is away");
    if (writer === second) looking.resolve();
    return writer;
  });
  const caller = toldTo(commits.submit("settle"));
  await looking.promise;
  await commits.close();
  found("no");
  expect(await caller).toBe("overloaded");
  await until(() => second.closed === 1);
});

test("a connection that opens after the end is closed", async () => {
  const arrival = Promise.withResolvers<FakeWriter>();
  const lost = new FakeWriter(() => {
    throw new Error("the connection is gone");
  });
  let opened = 0;
  const commits = groupCommit(() => ((opened += 1) === 1 ? Promise.resolve(lost) : arrival.promise));
  const caller = toldTo(commits.submit("settle"));
  await until(() => opened === 2);
  await commits.close();
  const late = new FakeWriter(takes);
  arrival.resolve(late);
  await until(() => late.closed === 1);
  expect(await caller).toBe("overloaded");
});

test("an interrupted batch runs again on the next connection, and operations waiting behind it are not refused", async () => {
  const cut = new FakeWriter(() => {
    for (const more of ["admit 2", "settle"]) behind.push(toldTo(commits.submit(more)));
    return isCut();
  });
  const behind: Promise<unknown>[] = [];
  const writers = [cut, new FakeWriter(takes)];
  const commits = groupCommit(async () => writers.shift() ?? Promise.reject(new Error("no more")));
  expect(await toldTo(commits.submit("admit 1"))).toBe("admit 1 is done");
  expect(await Promise.all(behind)).toEqual(["admit 2 is done", "settle is done"]);
  expect([cut.closed, commits.ready]).toEqual([1, true]);
  await commits.close();
});

test("a batch interrupted twice is refused; operations that must not be lost are retried until they are committed", async () => {
  const writers = [new FakeWriter(isCut), new FakeWriter(isCut), new FakeWriter(takes)];
  const commits = groupCommit(async () => writers.shift() ?? Promise.reject(new Error("no more")));
  const asked = ["admit", "settle"].map((operation) => toldTo(commits.submit(operation)));
  expect(await Promise.all(asked)).toEqual(["overloaded", "settle is done"]);
  await commits.close();
});

test("an interrupted batch is refused at once if there is no other connection", async () => {
  const writers = [new FakeWriter(isCut)];
  const commits = groupCommit(
    async () => writers.shift() ?? Promise.reject(new Error("the database is away")),
  );
  expect(await toldTo(commits.submit("admit"))).toBe("overloaded");
  await commits.close();
});

/** A store that refuses each batch for as long as it is full, and the group commit on it. */
function onFullStore(): { commits: GroupCommit<string, string>; store: { isFull: boolean; asked: number } } {
  const store = { isFull: true, asked: 0 };
  const commit = (operations: readonly string[]): Committed<string>[] => {
    store.asked += 1;
    if (store.isFull) throw FULL;
    return takes(operations);
  };
  return { store, commits: groupCommit(async () => new FakeWriter(commit)) };
}

test("a store that refuses is tried again and again, and does not count as back until it has taken something", async () => {
  const { commits, store } = onFullStore();
  const ready = new Set<boolean>();
  expect(await toldTo(commits.submit("admit"))).toBe("overloaded");
  for (const endMs = performance.now() + 3_000; performance.now() < endMs; await Bun.sleep(5)) {
    ready.add(commits.ready);
    if (commits.tries) expect(await toldTo(commits.submit("admit"))).toBe("overloaded");
  }
  expect([...ready]).toEqual([false]);
  expect(commits.trouble).toBe(FULL.message);
  expect(store.asked).toBeGreaterThan(3);
  expect(store.asked).toBeLessThan(12);
  store.isFull = false;
  await until(() => commits.tries);
  expect(await toldTo(commits.submit("admit"))).toBe("admit is done");
  expect([commits.ready, commits.trouble]).toEqual([true, null]);
  await commits.close();
});

test("a store that refused counts as back after a while if nobody asks", async () => {
  const { commits, store } = onFullStore();
  expect(await toldTo(commits.submit("admit"))).toBe("overloaded");
  store.isFull = false;
  await until(() => commits.tries);
  expect(commits.ready).toBe(false);
  await until(() => commits.ready);
  expect(commits.trouble).toBeNull();
  await commits.close();
});

test("a batch's settlements are answered before its admissions, whatever their order", async () => {
  const steps: string[] = [];
  const commits = groupCommit(async () => new FakeWriter(takes));
  const call = commits.submit("admit").then(() => steps.push("the call begins"));
  const answer = commits.submit("settle").then(async () => {
    for (let hop = 0; hop < 20; hop += 1) await Promise.resolve();
    steps.push("the answer leaves");
  });
  await Promise.all([call, answer]);
  expect(steps).toEqual(["the answer leaves", "the call begins"]);
  await commits.close();
});

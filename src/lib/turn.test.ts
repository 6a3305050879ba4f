// What one turn of the event loop guarantees to those who share it.
import { expect, test } from "bun:test";
import { atEndOfTurn, letGoOn, nextTurn } from "./turn.ts";

const loopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Records each of its steps; between them it only waits for its turn among the others. */
async function walk(name: string, steps: string[], atEnd?: () => void): Promise<void> {
  await nextTurn();
  steps.push(`${name} reads`);
  await Promise.resolve();
  steps.push(`${name} asks`);
  if (atEnd !== undefined) atEndOfTurn(atEnd);
}

test("calls that arrive together proceed together, each stage of all before the next stage of any", async () => {
  const steps: string[] = [];
  await Promise.all(["a", "b", "c"].map((name) => walk(name, steps)));
  expect(steps).toEqual(["a reads", "b reads", "c reads", "a asks", "b asks", "c asks"]);
});

test("work requested on the way is done at the end of the same turn, before anything later in the event loop", async () => {
  const steps: string[] = [];
  const walking = ["a", "b"].map((name) => walk(name, steps, () => steps.push(`done for ${name}`)));
  await Promise.all([...walking, loopTurn().then(() => steps.push("behind the turn"))]);
  expect(steps.slice(-3)).toEqual(["done for a", "done for b", "behind the turn"]);
});

test("one that throws stops neither the others nor the turn's end", async () => {
  const steps: string[] = [];
  const wrong = nextTurn().then(() => {
    throw new Error("a bug");
  });
  const others = walk("b", steps, () => steps.push("done for b"));
  const [failed] = await Promise.allSettled([wrong, others, loopTurn()]);
  expect([failed.status, ...steps]).toEqual(["rejected", "b reads", "b asks", "done for b"]);
});

test("one that waits within a turn continues in the next, even if nothing else starts it", async () => {
  const steps: string[] = [];
  await nextTurn();
  const again = nextTurn().then(() => steps.push("again"));
  await Promise.race([again, Bun.sleep(20_000)]);
  expect(steps).toEqual(["again"]);
});

test("one that waits within a turn or at its end continues in the next", async () => {
  const steps: string[] = [];
  await nextTurn();
  const again = nextTurn().then(() => steps.push("again"));
  atEndOfTurn(() => {
    steps.push("end");
    atEndOfTurn(() => steps.push("end of the next"));
    void nextTurn().then(() => steps.push("from the end"));
  });
  await again;
  await loopTurn();
  expect(steps).toEqual(["end", "again", "from the end", "end of the next"]);
});

test("the first to be resolved has continued before the next is resolved", async () => {
  const steps: string[] = [];
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  const answers = first.promise.then(() => null).then(() => steps.push("the answer has left"));
  const calls = second.promise.then(() => steps.push("the call begins"));
  await nextTurn();
  first.resolve();
  letGoOn();
  steps.push("told");
  second.resolve();
  await Promise.all([answers, calls]);
  expect(steps).toEqual(["the answer has left", "told", "the call begins"]);
});

test("work that throws at the end of a turn is reported as uncaught, and the work after it is done", async () => {
  const program = `
    import { atEndOfTurn } from ${JSON.stringify(`${import.meta.dir}/turn.ts`)};
    process.on("uncaughtException", ({ message }) => console.log("uncaught", message));
    for (const name of ["a", "b", "c"])
      atEndOfTurn(() => {
        if (name === "b") throw new Error(name);
        console.log("done", name);
      });
  `;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "inherit" });
  const said = (await new Response(child.stdout).text()).trim().split("\n");
  expect(said.toSorted()).toEqual(["done a", "done c", "uncaught b"]);
  expect(await child.exited).toBe(0);
});

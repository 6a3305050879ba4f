// A verification's thread answers the next question, too; one that failed, died or waited too long does not.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { waitFor } from "../../../test/support/wait.ts";
import { askThread } from "./verify-thread.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-threads-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Answers with the number of its thread, if it is not told to do something else. */
const THREAD = `
  import { threadId } from "node:worker_threads";
  self.addEventListener("message", ({ data: { question } }) => {
    if (question === "die") process.exit(1);
    if (question === "fail") return self.postMessage({ error: "no store" });
    if (question === "throw") throw new Error("thrown");
    if (question === "hang") return;
    if (question === "die later") setTimeout(() => process.exit(1), 1);
    self.postMessage({ report: threadId });
  });`;
const file = join(folder, "thread.js");
writeFileSync(file, THREAD);
const thread = pathToFileURL(file);
const ask = (question: string, ending?: AbortSignal): Promise<number> =>
  askThread<number>(thread, { question }, ending);

test("questions one after the other have one thread, concurrent ones have several", async () => {
  const first = await ask("a");
  expect(await ask("b")).toBe(first);
  const both = await Promise.all([ask("c"), ask("d")]);
  expect(new Set(both).size).toBe(2);
  expect(both).toContain(first);
});

test.each([
  ["fail", "no store"],
  ["throw", "thrown"],
  ["die", "ended without a result"],
])("after one that does not answer (%s) comes a new one", async (question, message) => {
  const before = await Promise.all([ask("a"), ask("b")]);
  const failed = await Promise.all([ask(question), ask(question)].map((asked) => asked.catch(String)));
  for (const one of failed) expect(one).toContain(message);
  expect(before).not.toContain(await ask("c"));
});

test("one that is told to end answers nothing else", async () => {
  const before = await Promise.all([ask("a"), ask("b")]);
  const stopping = new AbortController();
  const asked = [ask("hang", stopping.signal), ask("hang", stopping.signal)].map((one) => one.catch(String));
  stopping.abort();
  expect(await Promise.all(asked)).toEqual([0, 1].map(() => expect.stringContaining("is stopping")));
  expect(before).not.toContain(await ask("c"));
});

test("one that ends while it waits gets no question, and none waits for longer than two seconds", async () => {
  const dead = await ask("die later");
  await waitFor(async () => (await ask("a").catch(() => dead)) !== dead, "another thread");
  const living = await ask("a");
  await Bun.sleep(2_100); // its own timer is the earlier one of the two, however late both are
  expect(await ask("b")).not.toBe(living);
});

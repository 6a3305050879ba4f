// Exceptions between the two commits, injected where our code could throw: whatever is thrown while an answer is
// priced, printed or settled, the caller gets an answer, no hold stays, and the slot, the key and the stream are
// released.
import { afterAll, afterEach, beforeAll, expect, spyOn, test } from "bun:test";
import { Delivered } from "../../src/gateway/delivered.ts";
import { Frames } from "../../src/gateway/formats/chat-completions/frames.ts";
import { ZERO_USD } from "../../src/domain/money.ts";
import { ReplayBuffer } from "../../src/gateway/replay-buffer.ts";
import { type ErrorJson, readEvents } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({
    configure: (config) => {
      config.limits.keyConcurrent = 1;
      config.limits.maxConcurrent = 1;
    },
  });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

const broken: { mockRestore(): void }[] = [];
afterEach(() => {
  for (const spy of broken.splice(0)) spy.mockRestore();
  gateway.simulator.behaveWell();
});

const outOfStack = (): never => {
  throw new RangeError("Maximum call stack size exceeded.");
};

/** Makes a method throw. */
const breaks =
  <T extends object>(target: T, method: keyof T & string) =>
  (): void => {
    broken.push(spyOn(target as Record<string, () => unknown>, method).mockImplementation(outOfStack));
  };

/** Makes the printing of answers throw, and nothing else. */
function breaksPrinting(): void {
  const { stringify } = JSON;
  const print = (value: unknown, ...rest: unknown[]): string =>
    Array.isArray(value) && typeof value[0] === "object" && value[0] !== null && "finish_reason" in value[0]
      ? outOfStack()
      : (stringify as (...all: unknown[]) => string)(value, ...rest);
  broken.push(spyOn(JSON, "stringify").mockImplementation(print as typeof JSON.stringify));
}

type Balance = Awaited<ReturnType<TestGateway["balance"]>>;
const key = (): string => `exceptions-${crypto.randomUUID()}`;

async function nothingIsLeft(before: Balance, { charged } = { charged: false }): Promise<void> {
  const after = await gateway.balance(customer);
  expect(after.held).toBe(ZERO_USD);
  expect(after.spent > before.spent).toBe(charged);
  expect(after.available + after.spent).toBe(before.available + before.spent);
  for (const spy of broken.splice(0)) spy.mockRestore();
  expect((await gateway.chat(customer, hello())).status).toBe(200); // the only slot of the key and of the process is free
}

const WHOLE: [string, () => void][] = [
  ["printing the answer", breaksPrinting],
  ["the ledger, which refuses the settlement", () => breaks(gateway.ledger, "settle")()],
];

for (const keyed of [false, true]) {
  test.each(WHOLE)(`whole, keyed ${keyed}: an exception from %s leaves no hold`, async (_, breakIt) => {
    const before = await gateway.balance(customer);
    breakIt();
    const headers: Record<string, string> = keyed ? { "idempotency-key": key() } : {};
    const reply = await gateway.chat<ErrorJson>(customer, hello(), headers);
    expect([reply.status, reply.json.error.code]).toEqual([502, "provider_error"]);
    expect(reply.headers.get("x-should-retry")).toBe("false");
    await nothingIsLeft(before);
    if (!keyed) return;
    const again = await gateway.chat(customer, hello(), headers);
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([502, "true"]);
  });
}

/** What throws, and whether text had been delivered before that, which can still be priced. */
const STREAMED: [string, () => void, boolean][] = [
  ["the role", () => breaks(Frames.prototype, "begin")(), false],
  ["a part", () => breaks(Frames.prototype, "part")(), false],
  ["the last frames", () => breaks(Frames.prototype, "end")(), true],
  ["the count of what was delivered", () => breaks(Delivered.prototype, "count")(), false],
  ["the collection of what was delivered", () => breaks(Delivered.prototype, "add")(), false],
  ["what is kept for the replay", () => breaks(ReplayBuffer.prototype, "bytes")(), true],
  ["the ledger, which refuses the settlement", () => breaks(gateway.ledger, "settle")(), false],
];

for (const keyed of [false, true]) {
  const name = `streamed, keyed ${keyed}: an exception from %s leaves no hold, and what was delivered is charged`;
  test.each(STREAMED)(name, async (_, breakIt, charged) => {
    gateway.simulator.behave({ behaviour: { no_usage: true }, calls: 1 });
    const before = await gateway.balance(customer);
    breakIt();
    const headers: Record<string, string> = keyed ? { "idempotency-key": key() } : {};
    const reply = await gateway.chat(customer, { ...hello(), stream: true }, headers);
    expect(reply.status).toBe(200);
    const events = readEvents(reply.text);
    expect(events.done).toBe(false);
    expect(events.chunks.at(-1)?.error?.code).toBe("provider_error");
    await nothingIsLeft(before, { charged });
  });
}

test("a stream whose provider reported too much before the exception is charged by our count, and its record says no more of that", async () => {
  gateway.simulator.behave({
    behaviour: { usage: { prompt_tokens: 3000, completion_tokens: 3000 } },
    calls: 1,
  });
  const before = await gateway.balance(customer);
  breaks(Frames.prototype, "end")();
  const reply = await gateway.chat(customer, { ...hello(), stream: true });
  expect(readEvents(reply.text).done).toBe(false);
  await nothingIsLeft(before, { charged: true });
  expect((await gateway.ledger.verify()).violations).toEqual([]);
});

test("a stream that its provider refuses leaves nothing either", async () => {
  gateway.simulator.behave({ behaviour: { status: 400 }, calls: 1 });
  const before = await gateway.balance(customer);
  const reply = await gateway.chat(customer, { ...hello(), stream: true });
  expect(reply.status).toBeGreaterThanOrEqual(400);
  await nothingIsLeft(before);
});

test("a settlement that the store has not accepted yet is not undone", async () => {
  const { overloaded } = await import("../../src/domain/overloaded.ts");
  const spy = spyOn(gateway.ledger, "settle").mockImplementation(() => Promise.reject(overloaded()));
  const reply = await gateway.chat(customer, hello());
  spy.mockRestore();
  expect(reply.status).toBe(503);
  const { held } = await gateway.balance(customer);
  expect(held > 0n).toBe(true);
  await gateway.restart(); // the next start resolves what a dead store did not accept
  expect((await gateway.balance(customer)).held === 0n).toBe(true);
});

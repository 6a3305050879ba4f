// What clients do wrong (money.md §12 fault 56, 57): they leave at any time. Nothing stays held, every call is
// settled once.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createLog } from "../../src/lib/log.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { openSocket } from "../support/raw.ts";
import { reads } from "../support/wait.ts";

let gateway: TestGateway;
let customer: Customer;
let logged = "";
beforeAll(async () => {
  gateway = await startGateway({ log: createLog("info", { write: (line) => void (logged += line) }) });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
});

/**
 * Sends a streamed request, or all but its last bytes, and destroys the socket after so many milliseconds, or bytes
 * of the answer.
 */
function leaveAfter(
  when: number | { bytes: number },
  headers: readonly string[] = [],
  missing = 0,
): Promise<void> {
  const body = JSON.stringify({ ...hello(), stream: true });
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    "Host: x",
    "Content-Type: application/json",
    `Authorization: Bearer ${customer.secret}`,
    `Content-Length: ${body.length + missing}`,
    ...headers,
  ];
  return new Promise((resolve) => {
    const socket = openSocket(gateway.url);
    socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
    const leave = (): void => {
      socket.destroy();
      resolve();
    };
    let come = 0;
    socket.on("data", ({ length }) => {
      come += length;
      if (typeof when === "object" && come > when.bytes) leave();
    });
    if (typeof when === "number") setTimeout(leave, when);
  });
}

/** Waits until the provider is done and nothing is held, and stays so: the last requests may not have arrived yet. */
async function nothingHeld(): Promise<void> {
  let quiet = 0;
  for (let tries = 0; tries < 1000 && quiet < 10; tries += 1) {
    const running = gateway.simulator.bill().some(({ outcome }) => outcome === "running");
    quiet = running || (await gateway.balance(customer)).held !== 0n ? 0 : quiet + 1;
    await Bun.sleep(20);
  }
  if (quiet < 10) throw new Error(`${(await gateway.balance(customer)).held} nano-USD stayed held`);
}

test("clients that leave at any moment leave nothing held, without a key and with one", async () => {
  gateway.simulator.behave({ behaviour: { tokens_per_second: 2000, completion_tokens: 40 } });
  const leaving = Array.from({ length: 120 }, (_, n) =>
    leaveAfter(n / 4, n % 2 === 0 ? [] : [`Idempotency-Key: ${crypto.randomUUID()}`]),
  );
  await Promise.all(leaving);
  await nothingHeld();
  gateway.simulator.behaveWell();
  const report = await gateway.ledger.verify();
  expect(report.violations).toEqual([]);
});

test("the log says how far a client got that left before its answer, or before its whole body", async () => {
  const left = (): { address: string; status: number }[] =>
    logged
      .split("\n")
      .filter((line) => line.includes('"path":"/v1/chat/completions"'))
      .map((line) => JSON.parse(line));
  gateway.simulator.behave({ behaviour: { latency_ms: 1_000 } });
  logged = "";
  const seen = "Expect: 100-continue"; // is answered once the gateway has its header
  await Promise.all([
    leaveAfter({ bytes: 0 }, [seen]),
    leaveAfter({ bytes: 0 }, [seen, `Idempotency-Key: ${crypto.randomUUID()}`]),
    leaveAfter({ bytes: 0 }, [seen], 1),
  ]);
  await reads(async () => left().map(({ address }) => address), Array<string>(3).fill("127.0.0.1"));
  gateway.simulator.behaveWell();
  await nothingHeld();
}, 120_000);

test("an abandoned stream without a key is charged for what it delivered", async () => {
  gateway.simulator.behave({ behaviour: { tokens_per_second: 500, completion_tokens: 5000 }, calls: 1 });
  const before = gateway.simulator.bill().length;
  await leaveAfter({ bytes: 5_000 });
  await nothingHeld();
  const call = gateway.simulator.bill()[before];
  const record = await gateway.request(call?.request_id ?? "");
  expect(record.evidence).toBe("delivered_tokens");
  expect(record.usage?.completionTokens ?? 0).toBeGreaterThan(10);
  expect(record.usage?.completionTokens ?? 0).toBeLessThanOrEqual(call?.completion_tokens ?? 0);
  await reads(async () => gateway.simulator.bill()[before]?.outcome, "cut"); // the provider hears of it after the ledger
});

// Signed receipts: what the gateway returns, and how `./tollgate receipt verify` checks it without a gateway.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ReceiptJson } from "../../src/domain/receipt.ts";
import type { GatewayJson } from "../support/events.ts";
import { gatewayOf } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { type Ran, runToEnd, PROGRAM } from "../support/program.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-receipts-"));
const keys = join(folder, "jwks.json");
let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway();
  customer = await gateway.customer();
  writeFileSync(keys, await (await fetch(`${gateway.url}/.well-known/jwks.json`)).text());
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  id: string;
  jws: string;
  receipt: ReceiptJson;
}

const receiptOf = async (id: string | null): Promise<Answer> => {
  const reply = await gateway.get<Answer>(customer, `/v1/receipts/${id}`);
  expect(reply.status).toBe(200);
  return reply.json;
};

function verify(content: string): Promise<Ran> {
  const file = join(folder, "receipt.json");
  writeFileSync(file, content);
  return runToEnd(PROGRAM, ["receipt", "verify", file, "--jwks", keys], {
    env: { PATH: process.env["PATH"] ?? "" },
  });
}

test("the receipt of a completion carries its gateway object and arithmetic, and verifies offline", async () => {
  const reply = await gateway.chat<{ gateway: GatewayJson }>(customer, hello());
  const answer = await receiptOf(reply.headers.get("x-request-id"));
  const { cost } = reply.json.gateway;
  expect(answer.receipt.gateway as unknown).toEqual(reply.json.gateway);
  expect(Number(answer.receipt.charge.usd)).toBe(cost.customer_charge_usd);
  expect(answer.receipt.usage).toMatchObject({
    prompt_tokens: cost.input_tokens,
    completion_tokens: cost.output_tokens,
  });
  expect(answer).toEqual(await receiptOf(answer.id)); // the same request, the same bytes
  const verified = await verify(JSON.stringify(answer));
  expect(verified).toMatchObject({ code: 0, err: "" });
  expect(verified.out).toContain("The signature is good");
  expect((await verify(answer.jws)).code).toBe(0);
});

test("streams, overruns and released requests have receipts that verify", async () => {
  const stream = await gateway.stream(customer, hello());
  const streamed = await receiptOf(gatewayOf(stream.events).request_id);
  expect(streamed.receipt.gateway as unknown).toEqual(gatewayOf(stream.events));
  gateway.simulator.behave({
    behaviour: { usage: { prompt_tokens: 9_000, completion_tokens: 9_000 } },
    calls: 1,
  });
  const overrun = await gateway.chat(customer, { ...hello(), max_tokens: 10 });
  const capped = await receiptOf(overrun.headers.get("x-request-id"));
  expect(Number(capped.receipt.charge.above_hold_usd)).toBeGreaterThan(0);
  gateway.simulator.behave({ behaviour: { status: 503 }, calls: 1 });
  const failed = await gateway.chat(customer, hello());
  const released = await receiptOf(failed.headers.get("x-request-id"));
  expect(released.receipt).toMatchObject({ state: "released", usage: null });
  for (const answer of [streamed, capped, released])
    expect(await verify(JSON.stringify(answer))).toMatchObject({ code: 0, err: "" });
});

test("a changed receipt, one of another signer, or none is refused with what to do", async () => {
  const reply = await gateway.chat(customer, hello());
  const { jws } = await receiptOf(reply.headers.get("x-request-id"));
  const [head, payload, signature] = jws.split(".") as [string, string, string];
  const changed = Buffer.from(payload, "base64url")
    .toString()
    .replace(/"usd":"0/, '"usd":"9');
  const forged = [head, Buffer.from(changed).toString("base64url"), signature].join(".");
  const refused = await verify(forged);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("not a receipt of this gateway");
  expect(refused.err).toContain("→");
  expect((await verify("{}")).code).toBe(1);
  const other = await startGateway({ ownDataKey: true });
  const stranger = await other.customer();
  const foreign = await other.chat(stranger, hello());
  const theirs = await other.get<Answer>(stranger, `/v1/receipts/${foreign.headers.get("x-request-id")}`);
  await other.stop();
  expect((await verify(theirs.json.jws)).code).toBe(1);
});

test("another key's receipt: 404 for another key, 401 without one", async () => {
  const reply = await gateway.chat(customer, hello());
  const path = `/v1/receipts/${reply.headers.get("x-request-id")}`;
  const other = await gateway.key(customer.organizationId);
  expect((await gateway.get(other, path)).status).toBe(404);
  expect((await gateway.get(customer, "/v1/receipts/nonsense")).status).toBe(404);
  expect((await fetch(`${gateway.url}${path}`)).status).toBe(401);
});

// `./tollgate receipt verify` by itself: a receipt whose signature is good, and whose figures do not follow from one another.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { RECEIPT_TYPE } from "../../src/domain/document-types.ts";
import { RECEIPT_ALGORITHM, RECEIPT_ISSUER, type ReceiptJson } from "../../src/domain/receipt.ts";
import { type Ran, runToEnd, SOURCES } from "../support/program.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-receipt-"));
const keys = join(folder, "jwks.json");
let sign: (receipt: ReceiptJson) => Promise<string>;
beforeAll(async () => {
  const { privateKey, publicKey } = await generateKeyPair(RECEIPT_ALGORITHM);
  writeFileSync(keys, JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "k1" }] }));
  sign = (receipt) =>
    new SignJWT({ receipt })
      .setProtectedHeader({ alg: RECEIPT_ALGORITHM, typ: RECEIPT_TYPE, kid: "k1" })
      .setIssuer(RECEIPT_ISSUER)
      .sign(privateKey);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LINES = [
  { class: "input", tokens: 250, usd_per_million: "5", amount_usd: "0.00125" },
  { class: "cached_input", tokens: 400, usd_per_million: "0.5", amount_usd: "0.0002" },
  { class: "cache_write", tokens: 200, usd_per_million: "6.25", amount_usd: "0.00125" },
  { class: "cache_write_1h", tokens: 100, usd_per_million: "6.25", amount_usd: "0.000625" },
  { class: "image_input", tokens: 50, usd_per_million: "5", amount_usd: "0.00025" },
  { class: "output", tokens: 20, usd_per_million: "30", amount_usd: "0.0006" },
  { class: "calls", calls: 2, usd_per_thousand: "10", amount_usd: "0.02" },
];
/** Reckoned by hand. */
const HONEST = {
  request_id: "req_1",
  org: "org_1",
  key: "key_1",
  state: "settled",
  admitted_at: "2026-11-23T00:00:00.000Z",
  ended_at: "2026-11-23T00:00:01.000Z",
  release: {
    route: "m@p/r",
    version: 1,
    digest: "d",
    signed_by: "s",
    pricing: {
      input_per_million: "5",
      cached_input_per_million: "0.5",
      cache_write_per_million: "6.25",
      output_per_million: "30",
      request_minimum: "0",
      per_call: "10",
      calls_max: 2,
    },
  },
  hold: { usd: "0.050000000", prompt_tokens_max: 2000, output_tokens_max: 100 },
  usage: {
    prompt_tokens: 1000,
    cached_tokens: 400,
    cache_write_tokens: 300,
    cache_write_1h_tokens: 100,
    image_input_tokens: 50,
    completion_tokens: 20,
    calls: 2,
  },
  charge: {
    evidence: "provider_usage",
    usd: "0.024175000",
    minimum_applied: false,
    above_hold_usd: "0.000000000",
    returned_usd: "0.025825000",
  },
  gateway: { request_id: "req_1", cost: { customer_charge_usd: 0.024175, lines: LINES } },
} satisfies ReceiptJson;

let files = 0;
async function verify(receipt: ReceiptJson): Promise<Ran> {
  const file = join(folder, `${++files}.jws`);
  writeFileSync(file, await sign(receipt));
  return await runToEnd(SOURCES, ["receipt", "verify", file, "--jwks", keys], {
    env: { PATH: process.env["PATH"] ?? "" },
  });
}

test("one whose figures follow from each other is good, and its classes are named", async () => {
  const { code, out } = await verify(HONEST);
  expect([code, out]).toEqual([0, expect.stringContaining("the charge follows from the figures")]);
  expect(out).toContain("300 written to a cache, 100 of them for an hour, 50 image input, 2 paid calls");
});

const { usage, charge, gateway } = HONEST;
const withCost = (cost: object): object => ({ gateway: { ...gateway, cost: { ...gateway.cost, ...cost } } });
const LIES: [what: string, changed: object, said: string][] = [
  ["a class left out", { usage: { ...usage, cache_write_tokens: undefined } }, "charge: the receipt says"],
  ["a call more", { usage: { ...usage, calls: 3 } }, "charge: the receipt says"],
  [
    "a charge of a nano-dollar more",
    { charge: { ...charge, usd: "0.024175001" } },
    "its figures give 0.024175000",
  ],
  ["a variance", { charge: { ...charge, above_hold_usd: "0.000000001" } }, "above the hold: the receipt"],
  ["a minimum", { charge: { ...charge, minimum_applied: true } }, "minimum applied: the receipt says true"],
  ["less returned", { charge: { ...charge, returned_usd: "0.025824999" } }, "returned: the receipt says"],
  ["another cost in its answer", withCost({ customer_charge_usd: 0.02 }), "gateway.cost: the receipt says"],
  [
    "a line of another rate",
    withCost({ lines: LINES.map((line) => ({ ...line, usd_per_million: "5" })) }),
    "gateway.cost.lines: the receipt says",
  ],
  ["a line less", withCost({ lines: LINES.slice(1) }), "gateway.cost.lines: the receipt says"],
];
test.concurrent.each(LIES.map(([what, changed, said]) => ({ what, changed, said })))(
  "$what is a contradiction, though the signature is good",
  async ({ changed, said }) => {
    const { code, out } = await verify({ ...HONEST, ...changed } as ReceiptJson);
    expect([code, out]).toEqual([1, expect.stringContaining(said)]);
  },
);

// `./tollgate receipt verify` alone: receipts with a valid signature whose figures contradict each other.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { RECEIPT_TYPE } from "../../src/domain/document-types.ts";
import { RECEIPT_ALGORITHM, RECEIPT_ISSUER, type ReceiptJson } from "../../src/domain/receipt.ts";
import { type Ran, runToEnd, PROGRAM } from "../support/program.ts";

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
/** Calculated by hand. */
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
const verify = async (receipt: ReceiptJson): Promise<Ran> => verifyFile(await sign(receipt));

async function verifyFile(content: string): Promise<Ran> {
  const file = join(folder, `${++files}.jws`);
  writeFileSync(file, content);
  return await runToEnd(PROGRAM, ["receipt", "verify", file, "--jwks", keys], {
    env: { PATH: process.env["PATH"] ?? "" },
  });
}

test("one with consistent figures is good, and its classes are named", async () => {
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

describe("the part of an answer that people read", () => {
  const answer = async (): Promise<{ object: string; id: string; jws: string; receipt: ReceiptJson }> => ({
    object: "receipt",
    id: HONEST.request_id,
    jws: await sign(HONEST),
    receipt: HONEST,
  });
  test("may be as the gateway sent it, with its members in any order", async () => {
    const { receipt, ...rest } = await answer();
    const turned = Object.fromEntries(Object.entries(receipt).toReversed());
    for (const content of [
      { receipt, ...rest },
      { ...rest, receipt: turned },
    ])
      expect((await verifyFile(JSON.stringify(content, null, 2))).code).toBe(0);
  });
  const FORGED: [what: string, change: (of: Awaited<ReturnType<typeof answer>>) => object, said: string][] = [
    [
      "another charge",
      (of) => ({ ...of, receipt: { ...HONEST, charge: { ...charge, usd: "0.000000001" } } }),
      "receipt.charge.usd: the file says 0.000000001, the signed text says 0.024175000",
    ],
    [
      "a word that was not signed",
      (of) => ({ ...of, receipt: { ...HONEST, paid_by: "somebody else" } }),
      "receipt.paid_by: the file says somebody else, the signed text says nothing",
    ],
    [
      "a line of the answer left out",
      (of) => ({ ...of, receipt: { ...HONEST, gateway: { request_id: "req_1" } } }),
      "receipt.gateway.cost: the file says nothing",
    ],
    ["a receipt that is none", (of) => ({ ...of, receipt: "paid" }), "receipt: the file says paid"],
    [
      "another request",
      (of) => ({ ...of, id: "req_2" }),
      "id: the file says req_2, the signed text says req_1",
    ],
  ];
  test.concurrent.each(FORGED.map(([what, change, said]) => ({ what, change, said })))(
    "$what in it is refused, though the signature is good",
    async ({ change, said }) => {
      const { code, out } = await verifyFile(JSON.stringify(change(await answer())));
      expect([code, out]).toEqual([1, expect.stringContaining(said)]);
      expect(out).not.toContain("The signature is good and");
    },
  );
  test("a duplicate name is refused: people read one, programs the other", async () => {
    const forged = JSON.stringify({ ...HONEST, charge: { ...charge, usd: "9.000000000" } });
    const twice = JSON.stringify(await answer()).replace('{"object"', `{"receipt":${forged},"object"`);
    const { code, err } = await verifyFile(twice);
    expect([code, err]).toEqual([1, expect.stringContaining("the same key twice")]);
  });
});

const SAID_TWICE: [what: string, changed: object, said: string][] = [
  ["another request", { gateway: { ...gateway, request_id: "req_2" } }, "gateway.request_id: the receipt"],
  ["fewer tokens", withCost({ input_tokens: 999 }), "gateway.cost.input_tokens: the receipt says 999"],
  ["more tokens out", withCost({ output_tokens: 21 }), "gateway.cost.output_tokens: the receipt says 21"],
  [
    "another minimum",
    withCost({ minimum_applied: true }),
    "gateway.cost.minimum_applied: the receipt says true",
  ],
  ["other evidence", withCost({ evidence: "none" }), "gateway.cost.evidence: the receipt says none"],
];
test.concurrent.each(SAID_TWICE.map(([what, changed, said]) => ({ what, changed, said })))(
  "$what in the gateway object than in the receipt is a contradiction",
  async ({ changed, said }) => {
    const { code, out } = await verify({ ...HONEST, ...changed } as ReceiptJson);
    expect([code, out]).toEqual([1, expect.stringContaining(said)]);
  },
);

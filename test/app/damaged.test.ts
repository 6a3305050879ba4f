// A damaged record at every API that reads it: a call for it is told which one it is, and every page and every other
// request is answered as usual.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Browser, firstOperator } from "../support/browser.ts";
import { openDisk } from "../support/damage.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
let databaseUrl: string | null = null;
let root: Browser;
let customer: Customer;
/** Requests of the customer: each row is damaged in this way. */
let attempts: string;
let release: string;
let whole: string;

beforeAll(async () => {
  gateway = await startGateway({
    configure: (config) => {
      databaseUrl = config.databaseUrl;
    },
  });
  root = await firstOperator(gateway);
  customer = await gateway.customer();
  const asked = async (): Promise<string> =>
    (await gateway.chat(customer, hello())).headers.get("x-request-id") ?? "";
  [attempts, release, whole] = [await asked(), await asked(), await asked()];
  await gateway.tamper("UPDATE request SET attempts = '[{', status = 502 WHERE request_id = ?1", attempts);
  await gateway.tamper("UPDATE request SET release_digest = 'gone' WHERE request_id = ?1", release);
});
afterAll(() => gateway.stop());

const ask = async (path: string): Promise<{ status: number; text: string }> => {
  const answer = await fetch(`${gateway.url}${path}`, {
    headers: { authorization: `Bearer ${customer.secret}` },
  });
  return { status: answer.status, text: await answer.text() };
};

test("its own reader is told which record it is; the next request's is answered", async () => {
  const bad = await ask(`/v1/generation?id=${attempts}`);
  expect([bad.status, bad.text]).toEqual([500, expect.stringContaining(`the record of request ${attempts}`)]);
  expect((await ask(`/v1/generation?id=${whole}`)).status).toBe(200);
  const receipt = await ask(`/v1/receipts/${release}`);
  expect([receipt.status, receipt.text]).toEqual([
    500,
    expect.stringContaining(`the release of request ${release}`),
  ]);
  expect((await ask(`/v1/receipts/${whole}`)).status).toBe(200);
  expect((await gateway.chat(customer, hello())).status).toBe(200);
});

test("the pages that list it are complete", async () => {
  const org = customer.organizationId;
  const { data } = await root.app("GET /orgs/{org}/activity", { org });
  const ids = data.map(({ id }) => id);
  for (const id of [attempts, release, whole]) expect(ids).toContain(id);
  for (const route of [
    "GET /operator/providers",
    "GET /operator/health",
    "GET /operator/routes",
    "GET /orgs/{org}/overview",
    "GET /orgs/{org}/audit",
  ] as const)
    await root.app(route, { org });
  const { violations } = await root.app("POST /operator/ledger/audit");
  expect(new Set(violations.map(({ request_id }) => request_id))).toEqual(new Set([attempts, release]));
  expect(violations).toHaveLength(2);
});

test("a digit changed in a release: a call for the cost of its requests is told, and the pages are complete", async () => {
  const flipped = `manifest = replace(manifest, '"contextWindow":1', '"contextWindow":2')`;
  const disk = await openDisk({ dataDir: gateway.dataDir, databaseUrl });
  await disk.rows(
    "ledger",
    `UPDATE route_release SET ${flipped} WHERE digest = (SELECT release_digest FROM request WHERE request_id = ?1)`,
    whole,
  );
  await disk.close();
  for (const path of [`/v1/generation?id=${whole}`, `/v1/receipts/${whole}`]) {
    const { status, text } = await ask(path);
    expect([status, text]).toEqual([500, expect.stringMatching(/is damaged: release [0-9a-f]{64}\./)]);
  }
  const shown = await gateway.admin("GET", `/requests/${whole}`);
  expect(shown.status).toBe(500);
  const { data } = await root.app("GET /orgs/{org}/activity", { org: customer.organizationId });
  expect(data.map(({ id }) => id)).toContain(whole);
  const { violations } = await root.app("POST /operator/ledger/audit");
  expect(violations).toContainEqual(
    expect.objectContaining({ invariant: "I8 charge recomputed", request_id: whole, found: "none" }),
  );
});

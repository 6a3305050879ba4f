// "Verify this charge": from the evidence alone every step passes for an honest charge, however its request was
// booked; a change, in the store or in transit, fails the step concerned.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { EvidenceJson } from "../../src/api/shapes/evidence.ts";
import { formatUsd, nanoUsd } from "../../src/domain/money.ts";
import { VERIFICATION_STEPS, type VerificationStep } from "../../src/domain/verification.ts";
import { verifyCharge } from "../../src/pricing/verify-charge.ts";
import { followChain } from "../../src/pricing/verify-entries.ts";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { openDisk } from "../support/damage.ts";
import { type Customer, hello, startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";

type Reply = { gateway: { request_id: string } };
const shownOf = ({ receipt: { receipt } }: EvidenceJson) => ({
  request: receipt.request_id,
  charge_usd: receipt.charge.usd,
});
/** The steps that fail. */
async function brokenIn(evidence: EvidenceJson): Promise<VerificationStep[]> {
  const steps = await verifyCharge(evidence, shownOf(evidence));
  expect(steps.map(({ name }) => name)).toEqual([...VERIFICATION_STEPS]);
  return steps.filter(({ holds }) => holds !== true).map(({ name }) => name);
}
const nano = (usd: string): bigint => BigInt(usd.replace(".", ""));

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let root: Browser;
  let owner: Browser;
  let stranger: Browser;
  let customer: Customer;
  let request: string;

  beforeAll(async () => {
    gateway = await startGateway({ store });
    root = await firstOperator(gateway);
    customer = await gateway.customer();
    const at = { org: customer.organizationId, role: "owner", email: "owner@example.com" } as const;
    owner = await newMember(root, gateway, at);
    const other = (await gateway.customer()).organizationId;
    stranger = await newMember(root, gateway, { org: other, role: "owner", email: "stranger@example.com" });
    request = (await gateway.chat<Reply>(customer, hello())).json.gateway.request_id;
  });
  afterAll(() => gateway.stop());

  const evidenceOf = (id: string): Promise<EvidenceJson> =>
    owner.app("GET /orgs/{org}/activity/{request}/evidence", { org: customer.organizationId, request: id });

  test("an honest charge passes every step, and its entries lead to it and back", async () => {
    const evidence = await evidenceOf(request);
    expect(await brokenIn(evidence)).toEqual([]);
    expect(evidence.entries.map(({ entry }) => entry.kind)).toEqual(["hold", "charge", "rest"]);
    expect(evidence.chain.at(-1)?.n).toBe(evidence.head.n);
    const { charge } = await gateway.request(request);
    expect(nano(evidence.entries[1]?.amount_usd ?? "")).toBe(charge);
    const params = { org: customer.organizationId, request };
    const { data } = await owner.app("GET /orgs/{org}/activity/{request}/entries", params);
    expect(data.map(({ kind }) => kind)).toEqual(["hold", "charge", "rest"]);
    for (const { n, amount_usd } of data) {
      const at = { org: customer.organizationId, entry: String(n) };
      const shown = await owner.app("GET /orgs/{org}/billing/ledger/{entry}", at);
      expect(shown).toMatchObject({
        complete: true,
        parts: [{ request, amount_usd }],
        entry: { n, requests: 1 },
      });
    }
    const { json } = await gateway.admin<EvidenceJson>("GET", `/requests/${request}/evidence`);
    expect(json).toEqual(evidence);
  });

  test("requests that share an entry, a released one and a lowered hold pass every step, too", async () => {
    gateway.simulator.behave({ behaviour: { until_well: true } });
    const six = Array.from({ length: 6 }, () => gateway.chat<Reply>(customer, hello()));
    const running = () => gateway.simulator.bill().filter(({ outcome }) => outcome === "running").length;
    await waitFor(async () => running() === six.length, "all of them to run");
    gateway.simulator.behaveWell();
    const together = await Promise.all(six);
    const ids = together.map(({ json }) => json.gateway.request_id);
    const all = await Promise.all(ids.map(evidenceOf));
    expect(
      Math.max(...all.flatMap(({ entries }) => entries.map(({ entry }) => entry.requests))),
    ).toBeGreaterThan(1);
    for (const evidence of all) expect(await brokenIn(evidence)).toEqual([]);
    gateway.simulator.behave({ behaviour: { status: 503 }, calls: 1 });
    const failed = await gateway.chat(customer, hello());
    const released = await evidenceOf(failed.headers.get("x-request-id") ?? "");
    expect(released.entries.map(({ entry }) => entry.kind)).toEqual(["hold", "void"]);
    expect(await brokenIn(released)).toEqual([]);

    // Its prompt's bytes are many times its tokens, and the credits cover hardly more than one such bound.
    const long = {
      ...hello(),
      messages: [{ role: "user", content: "hello world ".repeat(400) }],
      max_tokens: 16,
    };
    const asked = (await gateway.chat<Reply>(customer, long)).json.gateway.request_id;
    const usd = formatUsd(nanoUsd(((await gateway.request(asked)).hold * 21n) / 20n));
    const tight = await gateway.customer({ usd });
    gateway.simulator.behave({ behaviour: { until_well: true } });
    const calls = gateway.simulator.bill().length;
    const called = (count: number) =>
      waitFor(async () => gateway.simulator.bill().length === calls + count, `${count} calls that run`);
    const first = gateway.chat(tight, long);
    await called(1);
    const second = gateway.chat(tight, long);
    await called(2);
    gateway.simulator.behaveWell();
    await Promise.all([first, second]);
    const rows = (await gateway.rowsOf("request")) as { request_id: string; lowered_txn: unknown }[];
    const lowered = rows.find(({ lowered_txn }) => lowered_txn !== null)?.request_id;
    const { json } = await gateway.admin<EvidenceJson>("GET", `/requests/${lowered}/evidence`);
    expect(json.entries.map(({ entry }) => entry.kind)).toContain("lower");
    expect(await brokenIn(json)).toEqual([]);
  });

  test("the chain is followed to its head piece by piece, and a break on the way is found", async () => {
    const params = { org: customer.organizationId, request };
    const from = async (n: number): Promise<EvidenceJson> =>
      await owner.app("GET /orgs/{org}/activity/{request}/evidence", params, undefined, `?chain_from=${n}`);
    const whole = await evidenceOf(request);
    expect((await from(3)).chain).toEqual(whole.chain.filter(({ n }) => n >= 3));
    const begun = { ...whole, chain: whole.chain.slice(0, 3) };
    expect(await brokenIn(begun)).toEqual([]); // the rest is reported, and is no failure
    const reached: number[] = [];
    const inPieces = async (n: number) => {
      const { chain, head } = await from(n);
      return { chain: chain.slice(0, 4), head };
    };
    expect(await followChain(begun, inPieces, (n) => reached.push(n))).toMatchObject({
      what: "head",
      holds: true,
    });
    expect(reached.length).toBeGreaterThan(1);
    expect(reached.at(-1)).toBe(whole.head.n);
    const changed = async (n: number) => {
      const { chain, head } = await inPieces(n);
      return { chain: chain.map((entry) => (entry.n === 9 ? { ...entry, reference: "x" } : entry)), head };
    };
    expect(await followChain(begun, changed, () => {})).toMatchObject({ found: "#9", holds: false });
    const none = () => Promise.resolve({ chain: [], head: whole.head });
    expect(await followChain(begun, none, () => {})).toMatchObject({ holds: false });
  });

  test("a person who may not see billing gets the part of the chain that the charge needs, and nobody's purchases", async () => {
    const { organizationId: org } = customer;
    const id = (await gateway.chat<Reply>(customer, hello())).json.gateway.request_id;
    const reference = "in_private";
    const bought = { org, amount_usd: "7", kind: "purchase", reference, reason: "test" };
    await root.app("POST /operator/credits", {}, bought);
    await gateway.chat<Reply>(customer, hello());
    const route = "GET /orgs/{org}/activity/{request}/evidence";
    for (const role of ["viewer", "developer", "billing", "admin"] as const) {
      const member = await newMember(root, gateway, { org, role, email: `${role}@example.com` });
      const evidence = await member.app(route, { org, request: id });
      expect(await brokenIn(evidence)).toEqual([]);
      const mayAll = role === "billing" || role === "admin";
      const from = await member.try(route, { org, request: id }, undefined, { query: "?chain_from=1" });
      const told: (boolean | number | string | null)[] = [
        JSON.stringify(evidence).includes(reference),
        from.status,
        from.json.error?.code ?? null,
      ];
      expect([role, ...told]).toEqual(
        mayAll ? [role, true, 200, null] : [role, false, 403, "role_not_permitted"],
      );
      expect(evidence.head.n > (evidence.chain.at(-1)?.n ?? 0)).toBe(!mayAll);
    }
    expect((await root.try(route, { org, request: id }, undefined, { query: "?chain_from=1" })).status).toBe(
      200,
    );
  });

  test("nothing of another organization is returned, under its own address or ours", async () => {
    const [ours, theirs] = [customer.organizationId, (await gateway.customer()).organizationId];
    for (const route of ["entries", "evidence"] as const) {
      const asked = `GET /orgs/{org}/activity/{request}/${route}` as const;
      expect((await stranger.try(asked, { org: ours, request })).status).toBe(404);
      const foreign = (await gateway.chat<Reply>(await gateway.customer(), hello())).json.gateway.request_id;
      expect((await owner.try(asked, { org: ours, request: foreign })).status).toBe(404);
    }
    expect(
      (await owner.try("GET /orgs/{org}/billing/ledger/{entry}", { org: theirs, entry: "1" })).status,
    ).toBe(404);
    expect(
      (await owner.try("GET /orgs/{org}/billing/ledger/{entry}", { org: ours, entry: "999999" })).status,
    ).toBe(404);
    expect(
      (await owner.try("GET /orgs/{org}/billing/ledger/{entry}", { org: ours, entry: "1e3" })).status,
    ).toBe(404);
  });

  test("a change in transit shows at its step", async () => {
    const honest = await evidenceOf(request);
    const changed = (change: (evidence: EvidenceJson) => void): Promise<VerificationStep[]> => {
      const copy = structuredClone(honest);
      change(copy);
      return brokenIn(copy);
    };
    const [head = "", payload = "", signature = ""] = honest.release.split(".");
    const cheaper = Buffer.from(payload, "base64url")
      .toString()
      .replace('"input_per_million":"', '"input_per_million":"1');
    expect(
      await changed(
        (of) => (of.release = [head, Buffer.from(cheaper).toString("base64url"), signature].join(".")),
      ),
    ).toEqual(["release", "prices", "arithmetic"]);
    expect(await changed((of) => (of.release_key = null))).toEqual(["release"]);
    expect(await changed((of) => (of.receipt_keys[0]!.x = honest.release_key?.x ?? ""))).toEqual(["receipt"]);
    expect(await changed((of) => (of.receipt.receipt.release.pricing.output_per_million = "0"))).toEqual([
      "prices",
      "receipt",
    ]);
    expect(await changed((of) => (of.receipt.receipt.usage!.completion_tokens += 100))).toEqual([
      "receipt",
      "arithmetic",
    ]);
    expect(await changed((of) => (of.receipt.receipt.charge.usd = "0.000000001"))).toEqual([
      "receipt",
      "arithmetic",
      "hold",
      "entries",
    ]);
    expect(await changed((of) => (of.entries[1]!.entry.amount_usd = "0.000000001"))).toEqual(["entries"]);
    expect(await changed((of) => of.entries.splice(1, 1))).toEqual(["entries"]);
    expect(await changed((of) => (of.entries[0]!.entry.at = "2020-01-01T00:00:00.000Z"))).toEqual([
      "entries",
    ]);
    expect(await changed((of) => of.chain.splice(1, 1))).toEqual(["chain"]);
    expect(await changed((of) => (of.chain[1]!.requests += 1))).toEqual(["chain"]);
    expect(await changed((of) => (of.head.hash = "00".repeat(32)))).toEqual(["chain"]);
    const last = honest.entries.at(-1)?.entry.n ?? 0;
    const others = (await evidenceOf((await gateway.chat<Reply>(customer, hello())).json.gateway.request_id))
      .chain;
    expect(others.every(({ n }) => n > last)).toBe(true);
    for (const chain of [others, honest.chain.filter(({ n }) => n < last), []]) {
      const copy = { ...honest, chain, ...(chain === others && { head: others.at(-1)! }) };
      const [step] = (await verifyCharge(copy, shownOf(copy))).filter(({ holds }) => holds !== true);
      expect(step).toMatchObject({ name: "chain", holds: false });
    }
    const steps = await verifyCharge(honest, { request, charge_usd: "0.999999999" });
    expect(steps.find(({ holds }) => holds === false)).toMatchObject({ name: "arithmetic" });
  });

  test("the evidence of another request proves nothing about the requested one", async () => {
    const other = (await gateway.chat<Reply>(customer, hello())).json.gateway.request_id;
    const evidence = await evidenceOf(other);
    for (const claimed of [evidence, { ...evidence, request }]) {
      const steps = await verifyCharge(claimed, { request });
      expect(steps.filter(({ holds }) => holds !== true).map(({ name }) => name)).toEqual(["receipt"]);
    }
  });

  test("what a receipt says twice is compared: each line in full, and the answer's own figures", async () => {
    const honest = await evidenceOf(request);
    const changed = async (cost: object): Promise<unknown> => {
      const copy = structuredClone(honest);
      const { gateway: answered } = copy.receipt.receipt;
      Object.assign(answered["cost"] as object, cost);
      const steps = await verifyCharge(copy, shownOf(copy));
      return steps
        .find(({ name }) => name === "arithmetic")
        ?.checks.filter(({ holds }) => holds === false)
        .map(({ what, of }) => [what, of]);
    };
    const { lines = [] } =
      (honest.receipt.receipt.gateway as { cost?: { lines?: { class: string }[] } }).cost ?? {};
    const [first] = lines;
    const otherRate = lines.map((line) => (line === first ? { ...line, usd_per_million: "9" } : line));
    expect(await changed({ lines: otherRate })).toEqual([["line", first?.class]]);
    const more = { class: "operator", amount_usd: "1" };
    expect(await changed({ lines: [...lines, more] })).toEqual([["line", "operator"]]);
    expect(await changed({ input_tokens: 1 })).toEqual([["answer", "gateway.cost.input_tokens"]]);
    expect(await changed({ customer_charge_usd: 1 })).toEqual([["answer", "gateway.cost"]]);
    expect(await changed({})).toEqual([]);
  });

  test("a charge that was changed in the store is detected, though its receipt is signed anew", async () => {
    const { charge } = await gateway.request(request);
    await gateway.tamper("UPDATE request SET charge = charge - 1 WHERE request_id = ?1", request);
    expect(await brokenIn(await evidenceOf(request))).toEqual(["arithmetic", "entries"]);
    await gateway.tamper("UPDATE request SET charge = charge + 1 WHERE request_id = ?1", request);
    expect((await gateway.request(request)).charge).toBe(charge);
    expect(await brokenIn(await evidenceOf(request))).toEqual([]);
    if (store === "postgres") return;
    const disk = await openDisk({ dataDir: gateway.dataDir, databaseUrl: null });
    const entry = (await evidenceOf(request)).entries[1]?.entry.n ?? 0;
    await disk.rows(
      "ledger",
      "UPDATE ledger_entry SET amount = amount + 1 WHERE org_id = ? AND version = ?",
      customer.organizationId,
      entry,
    );
    await disk.close();
    expect(await brokenIn(await evidenceOf(request))).toEqual(["entries", "chain"]);
  });
});

// The statement of a month, as a document, for a spreadsheet and to print: its sums are those of the ledger's
// entries, to the last nano-dollar, wherever a request crossed the turn of the month.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { StatementJson } from "../../src/api/shapes/statement.ts";
import { byItself } from "../../src/domain/actor.ts";
import { nanoUsd } from "../../src/domain/money.ts";
import { pdfPages } from "../../src/lib/pdf-pages.ts";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { stoppedClock, testClock } from "../support/clock.ts";
import { type Customer, hello, startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";

const NAME = "Ünïcode (東京) \\ GmbH =1+1";
const nano = (usd: string): bigint => {
  const [whole = "0", fraction = ""] = usd.replace(/[$,-]/g, "").split(".");
  const amount = BigInt(whole + fraction.padEnd(9, "0"));
  return usd.includes("-") ? -amount : amount;
};
const sum = (amounts: readonly string[]): bigint => amounts.reduce((all, one) => all + nano(one), 0n);

describe.each(STORES)("on %s", (store) => {
  const clock = testClock();
  let gateway: TestGateway;
  let owner: Browser;
  let customer: Customer;
  let [before, turn] = ["", ""];

  beforeAll(async () => {
    // The last seconds of a month, whichever it is.
    const now = new Date();
    const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    [before, turn] = [now.toISOString().slice(0, 7), new Date(next).toISOString()];
    clock.set(new Date(next - 20_000).toISOString());
    gateway = await startGateway({ store, clock });
    const root = await firstOperator(gateway);
    const org = (await root.app("POST /operator/organizations", {}, { name: NAME })).id;
    owner = await newMember(root, gateway, { org, role: "owner", email: "owner@example.com" });
    await gateway.admin("POST", "/credits", {
      org,
      usd: "3.000000001",
      kind: "purchase",
      reference: "INV-1 (a)",
    });
    await gateway.admin("POST", "/credits", { org, usd: "1.5", reference: "welcome" });
    customer = await gateway.key(org);
    const first = await gateway.chat<{ gateway: { request_id: string } }>(customer, hello());
    await gateway.chat(await gateway.key(org), hello());
    await gateway.admin("POST", "/credits/refund", {
      request: first.json.gateway.request_id,
      usd: "0.000000007",
    });
    // Held in one month, charged in the next.
    gateway.simulator.behave({ behaviour: { until_well: true }, calls: 1 });
    const crossing = gateway.chat(customer, hello());
    await waitFor(async () => (await gateway.balance(customer)).held > 0n, "the hold");
    clock.set(turn);
    gateway.simulator.behaveWell();
    expect((await crossing).status).toBe(200);
    await gateway.admin("POST", "/credits", { org, usd: "2", reference: "later" });
  });
  afterAll(async () => {
    await gateway.assertSound();
    await gateway.stop();
  });

  const shown = async (month: string): Promise<StatementJson> =>
    await owner.app(
      "GET /orgs/{org}/billing/statement",
      { org: customer.organizationId },
      undefined,
      `?month=${month}`,
    );
  const file = async (kind: "csv" | "pdf", month: string) => {
    const route = `GET /orgs/{org}/billing/statement.${kind}` as const;
    return await owner.try(route, { org: customer.organizationId }, undefined, { query: `?month=${month}` });
  };
  const booked = async (kind: string, since: string, until: string): Promise<bigint> =>
    (
      (await gateway.rowsOf("ledger_entry")) as {
        kind: string;
        at: number | string;
        amount: number | string;
      }[]
    )
      .filter(
        (row) =>
          row.kind === kind && Number(row.at) >= Date.parse(since) && Number(row.at) < Date.parse(until),
      )
      .reduce((all, row) => all + BigInt(row.amount), 0n);

  test("a month's sums are its entries', and a month begins with what the one before ended with", async () => {
    const after = turn.slice(0, 7);
    const [one, two] = [await shown(before), await shown(after)];
    for (const [statement, since, until] of [
      [one, `${before}-01T00:00:00Z`, turn],
      [two, turn, "9999-01-01T00:00:00Z"],
    ] as const) {
      expect(nano(statement.charges_usd)).toBe(await booked("charge", since, until));
      expect(nano(statement.purchases_usd)).toBe(await booked("purchase", since, until));
      expect(nano(statement.grants_usd)).toBe(await booked("grant", since, until));
      expect(nano(statement.refunds_usd)).toBe(await booked("refund", since, until));
      expect(sum(statement.charges.map(({ charge_usd }) => charge_usd))).toBe(nano(statement.charges_usd));
      expect(statement).toMatchObject({
        drift_usd: "0.000000000",
        other_charges: null,
        other_movements: null,
      });
    }
    expect(one.opening_usd).toBe("0.000000000");
    expect(two.opening_usd).toBe(one.closing_usd);
    expect(one.charges).toHaveLength(2);
    expect(nano(one.held_usd)).toBeGreaterThan(0n);
    expect(two.charges).toMatchObject([{ key: { id: customer.keyId }, requests: 1 }]);
    const { available, held } = await gateway.balance(customer);
    expect(nano(two.closing_usd)).toBe(available + held);
    expect([one.final, two.final]).toEqual([false, false]); // entries stamped in a month may still arrive
    expect(two.entries.first).toBe((one.entries.last ?? 0) + 1);
    const rows = (await gateway.rowsOf("ledger_entry")) as {
      version: number | string;
      org_id: string;
      hash: Uint8Array;
    }[];
    const head = rows.find(
      (row) => row.org_id === customer.organizationId && Number(row.version) === one.head?.n,
    );
    expect(one.head?.hash).toBe(Buffer.from(head?.hash ?? []).toString("hex"));
    clock.advance(120_000);
    expect(await shown(before)).toMatchObject({
      ...one,
      made_at: expect.any(String),
      to: expect.any(String),
      final: true,
    });
  });

  test("the spreadsheet's lines add up to its last one, and the printed ones to the same", async () => {
    const { org: _, ...statement } = await shown(before);
    const csv = await file("csv", before);
    expect(csv.headers.get("content-disposition")).toBe(
      `attachment; filename="statement-${customer.organizationId}-${before}.csv"`,
    );
    const [head = "", ...lines] = csv.text.trimEnd().split("\r\n");
    const at = head.split(",").indexOf("amount_usd");
    const amountOf = (line: string): string => line.split(",")[at] ?? "";
    const closing = lines.findIndex((line) => line.startsWith("closing,"));
    expect(sum(lines.slice(0, closing).map(amountOf))).toBe(nano(statement.closing_usd));
    expect(amountOf(lines[closing] ?? "")).toBe(statement.closing_usd);

    const pdf = await owner.send(
      "GET",
      `/app/v1/orgs/${customer.organizationId}/billing/statement.pdf?month=${before}`,
    );
    expect(pdf.headers.get("content-type")).toBe("application/pdf");
    expect(pdfPages(Buffer.from(pdf.text, "latin1"))).toBe(1);
    const texts = [...pdf.text.matchAll(/\(((?:[^()\\]|\\\d{3})*)\) Tj/g)].map(([, text = ""]) => text);
    const printedAfter = (label: string): bigint => nano(texts[texts.indexOf(label) + 1] ?? "");
    const parts = ["Opening balance", "Purchases", "Grants", "Refunds", "Charges", "Chargebacks"];
    expect(parts.map(printedAfter).reduce((all, one) => all + one)).toBe(nano(statement.closing_usd));
    expect(printedAfter("Closing balance")).toBe(nano(statement.closing_usd));
    expect(printedAfter("All charges")).toBe(nano(statement.charges_usd));
    const signs = new Map(
      [...pdf.text.matchAll(/^<([0-9a-f]{4})> <([0-9a-f]+)>$/gm)].map(([, glyph = "", sign = ""]) => [
        glyph,
        Buffer.from(sign, "hex").swap16().toString("utf16le"),
      ]),
    );
    const names = [...pdf.text.matchAll(/<([0-9a-f]+)> Tj/g)].map(([, glyphs = ""]) =>
      (glyphs.match(/.{4}/g) ?? []).map((glyph) => signs.get(glyph)).join(""),
    );
    expect(names[0]).toBe("Ünïcode (□□) \\ GmbH =1+1");
    expect(names.at(-1)).toStartWith("□ stands for a character");
    expect(texts).toContain(statement.head?.hash ?? "");
    const refund = statement.movements.find(({ kind }) => kind === "refund");
    expect(refund?.request).toStartWith("req_");
    expect(texts).toContain(`of ${refund?.request}`);
  });

  test("what a chargeback leaves owed is in the balance, and so is what pays it", async () => {
    const indebted = await gateway.customer({ usd: "1" });
    await gateway.chat(indebted, hello());
    const { organizationId } = indebted;
    const one = nanoUsd(1_000_000_000n);
    await gateway.ledger.reverse(
      {
        organizationId,
        amount: one,
        kind: "chargeback",
        source: "test",
        externalId: "dispute-1",
        target: "x",
      },
      byItself("test"),
    );
    const told = async () =>
      (
        await gateway.admin<StatementJson>(
          "GET",
          `/statement?org=${organizationId}&month=${turn.slice(0, 7)}`,
        )
      ).json;
    const owing = await told();
    expect(owing).toMatchObject({
      chargebacks_usd: "1.000000000",
      available_usd: "0.000000000",
      drift_usd: "0.000000000",
    });
    expect(nano(owing.closing_usd)).toBe(-nano(owing.charges_usd));
    expect(owing.debt_usd).toBe(owing.charges_usd);
    await gateway.admin("POST", "/credits", { org: organizationId, usd: "0.5", reference: "paid" });
    const paid = await told();
    expect(paid).toMatchObject({ debt_usd: "0.000000000", drift_usd: "0.000000000" });
    expect(nano(paid.closing_usd)).toBe(500_000_000n - nano(paid.charges_usd));
  });

  test("the operator API returns the same; a future month, an invalid one, and an unknown organization are refused", async () => {
    const ask = (query: string) => gateway.admin<StatementJson>("GET", `/statement?${query}`);
    const told = await ask(`org=${customer.organizationId}&month=${before}`);
    expect({ ...told.json, made_at: "", to: "" }).toEqual({ ...(await shown(before)), made_at: "", to: "" });
    expect((await ask(`org=${customer.organizationId}&month=9999-12`)).status).toBe(400);
    expect((await ask(`org=${customer.organizationId}&month=2026-13`)).status).toBe(400);
    expect((await ask(`org=org_nobody&month=${before}`)).status).toBe(404);
    const old = await ask(`org=${customer.organizationId}&month=2020-02`);
    expect(old.json).toMatchObject({ closing_usd: "0.000000000", head: null, charges: [], final: true });
  });
});

test.each(STORES)(
  "on %s: the last millisecond of a month belongs to it, the turn to the next one",
  async (store) => {
    const clock = stoppedClock();
    const now = new Date();
    const turnMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    const [before, after] = [new Date(turnMs - 1).toISOString(), new Date(turnMs).toISOString()];
    clock.set(before);
    const gateway = await startGateway({ store, clock });
    try {
      const customer = await gateway.customer({ usd: "3" });
      const org = customer.organizationId;
      const paid = await gateway.chat<{ gateway: { request_id: string } }>(customer, hello());
      gateway.simulator.behave({ behaviour: { until_well: true }, calls: 1 });
      const crossing = gateway.chat(customer, hello());
      await waitFor(async () => (await gateway.balance(customer)).held > 0n, "the hold");
      clock.set(after);
      gateway.simulator.behaveWell();
      expect((await crossing).status).toBe(200);
      await gateway.admin("POST", "/credits/refund", {
        request: paid.json.gateway.request_id,
        usd: "0.000000003",
      });
      await gateway.admin("POST", "/credits", {
        org,
        usd: "0.000000001",
        kind: "purchase",
        reference: "turn",
      });
      const [one, two] = await Promise.all(
        [before, after].map(
          async (at) =>
            (await gateway.admin<StatementJson>("GET", `/statement?org=${org}&month=${at.slice(0, 7)}`)).json,
        ),
      );
      expect(one).toMatchObject({
        purchases_usd: "3.000000000",
        refunds_usd: "0.000000000",
        drift_usd: "0.000000000",
      });
      expect(two).toMatchObject({
        purchases_usd: "0.000000001",
        refunds_usd: "0.000000003",
        drift_usd: "0.000000000",
        opening_usd: one?.closing_usd,
      });
      expect([one, two].map((month) => month?.charges.map(({ requests }) => requests))).toEqual([[1], [1]]);
      const { available, held } = await gateway.balance(customer);
      expect(nano(two?.closing_usd ?? "")).toBe(available + held);
      await gateway.assertSound();
    } finally {
      await gateway.stop();
    }
  },
);

// Rows written by older programs hold whatever a provider reported, up to 2^53 − 1 tokens for a request: no page,
// CSV, sum, move or audit fails because of them, and none of them keeps a hold from ending (money.md §6).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AppAnswer } from "../../src/api/client.ts";
import { type Browser, firstOperator } from "../support/browser.ts";
import { openDisk } from "../support/damage.ts";
import { type Customer, hello, startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { PLAIN, type TestManifest } from "../support/models.ts";

const FREE: TestManifest = {
  ...PLAIN,
  model: "free-1",
  pricing: {
    ...PLAIN.pricing,
    input_per_million: "0",
    cached_input_per_million: "0",
    output_per_million: "0",
  },
};
const MAX = 9_007_199_254_740_991n;
const BRIM = 9_223_372_036_854_775_807n;
const HOUR_MS = 3_600_000;

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let root: Browser;
  let customer: Customer;
  let databaseUrl: string | null = null;
  beforeAll(async () => {
    gateway = await startGateway({
      models: [FREE],
      store,
      configure: (config) => {
        databaseUrl = config.databaseUrl;
      },
    });
    root = await firstOperator(gateway);
    customer = await gateway.customer();
    for (let i = 0; i < 3; i += 1) await gateway.chat(customer, hello("free-1"));
    const org = customer.organizationId;
    await gateway.tamper(
      `UPDATE request SET prompt_tokens = ${MAX}, completion_tokens = ${MAX}, cached_tokens = ${MAX}, surface = NULL WHERE org_id = ?1`,
      org,
    );
    await gateway.tamper(
      `UPDATE usage_hour SET input_tokens = ${3n * MAX}, output_tokens = ${3n * MAX}, cached_tokens = ${3n * MAX} WHERE org_id = ?1`,
      org,
    );
  });
  afterAll(() => gateway.stop());

  const read = (path: string) => root.send("GET", `/app/v1${path}`);

  test("the audit finds nothing wrong with them", async () => {
    const { ok, violations } = await gateway.ledger.verify();
    expect({ ok, violations }).toEqual({ ok: true, violations: [] });
  });

  test("a request with such figures is shown, with its arithmetic and its receipt", async () => {
    const { data } = await root.app("GET /orgs/{org}/activity", { org: customer.organizationId });
    expect(data).toHaveLength(3);
    const id = data[0]?.id ?? "";
    const detail = await root.app("GET /orgs/{org}/activity/{request}", {
      org: customer.organizationId,
      request: id,
    });
    expect(detail.arithmetic?.charge_usd).toBe("0.000100000");
    expect((await gateway.admin("GET", `/requests/${id}`)).status).toBe(200);
  });

  test("sums beyond 2^53, and beyond 63 bits, are exact on pages, in CSV and for the command line", async () => {
    const earlier = Math.floor(Date.now() / HOUR_MS) - 2;
    for (const hour of [earlier, earlier - 1])
      await gateway.tamper(
        `INSERT INTO usage_hour (org_id, key_id, model, hour, requests, input_tokens, cached_tokens, output_tokens, charge)
         VALUES (?1, '${customer.keyId}', 'free-1', ${hour}, 1, ${BRIM}, 0, ${BRIM}, 0)`,
        customer.organizationId,
      );
    const sum = String(2n * BRIM + 3n * MAX);
    for (const query of ["?range=24h", "?range=24h&group_by=key", "?range=24h&group_by=provider"]) {
      const reply = await read(`/orgs/${customer.organizationId}/usage${query}`);
      expect(reply.status).toBe(200);
      const told = query.endsWith("provider") ? String(3n * MAX) : sum;
      expect(reply.text).toContain(`"total":{"requests":${told === sum ? 5 : 3},"input_tokens":${told},`);
    }
    expect((await read(`/orgs/${customer.organizationId}/usage.csv?range=24h`)).text).toContain(
      `,${BRIM},0,0,${BRIM},`,
    );
    const admin = await gateway.admin("GET", `/usage?org=${customer.organizationId}`);
    expect([admin.status, admin.text.includes(`"input_tokens":${sum},`)]).toEqual([200, true]);
  });

  test("cache writes have the same sum from roll-ups and from requests; damaged classes fail no sum", async () => {
    const writer = await gateway.customer();
    for (const cache_write of [5, 3]) {
      gateway.simulator.behave({ behaviour: { classes: { cache_write } }, calls: 1 });
      await gateway.chat(writer, hello("free-1"));
    }
    const written = async (group: string): Promise<unknown> => {
      const query = `?range=24h&group_by=${group}`;
      const used = await root.app("GET /orgs/{org}/usage", { org: writer.organizationId }, undefined, query);
      const series = used.series.flatMap(({ figures }) =>
        figures.flatMap((one) => one?.cache_write_tokens ?? []),
      );
      return [used.total, ...used.rows].map((one) => one.cache_write_tokens).concat(series);
    };
    for (const group of ["model", "key", "provider", "region"])
      expect(await written(group)).toEqual([8, 8, 8]);
    const { text } = await read(`/orgs/${writer.organizationId}/usage.csv?range=24h`);
    const [columns = "", row = ""] = text.split("\r\n");
    expect(row.split(",")[columns.split(",").indexOf("cache_write_tokens")]).toBe("8");
    const { data } = await root.app("GET /orgs/{org}/activity", { org: writer.organizationId });
    await gateway.tamper(`UPDATE request SET usage_classes = '{' WHERE request_id = ?1`, data[0]?.id ?? "");
    expect(await written("provider")).toEqual([5, 5, 5]);
  });

  test("a roll-up at its maximum blocks no hold: the next request of its hour settles", async () => {
    await gateway.tamper(
      `UPDATE usage_hour SET requests = ${BRIM}, charge = ${BRIM},
         input_tokens = ${BRIM}, output_tokens = ${BRIM}, cached_tokens = ${BRIM} WHERE org_id = ?1`,
      customer.organizationId,
    );
    expect((await gateway.chat(customer, hello("free-1"))).status).toBe(200);
    expect((await gateway.balance(customer)).held).toBe(0n as never);
  });

  test("variances beyond 63 bits are added up", async () => {
    await gateway.tamper(`UPDATE request SET variance = ${BRIM} WHERE org_id = ?1`, customer.organizationId);
    const { data }: AppAnswer<"GET /operator/providers"> = await root.app("GET /operator/providers");
    const usd = data.find(({ name }) => name === "simulator")?.variance_usd.replace(".", "");
    expect(BigInt(usd ?? 0)).toBe(4n * BRIM);
  });

  test("a request with a damaged refund can be refunded no further", async () => {
    const { headers } = await gateway.chat(customer, hello("free-1"));
    const request = headers.get("x-request-id") ?? "";
    const refund = (reference: string) =>
      root.try(
        "POST /operator/refunds",
        {},
        { request, amount_usd: "0.000000001", reference, reason: "wrong model answered" },
      );
    for (const reference of ["first", "second"]) expect((await refund(reference)).status).toBe(201);
    const disk = await openDisk({ dataDir: gateway.dataDir, databaseUrl });
    await disk.rows("ledger", `UPDATE reversal SET amount = ${BRIM} WHERE external_id = 'first'`);
    await disk.close();
    const third = await refund("third");
    expect([third.status, third.json.error.code]).toEqual([409, "conflict"]);
    expect((await root.app("GET /operator/requests/{request}", { request })).refunded_usd).toBe(
      "9223372036.854775808",
    );
  });
});

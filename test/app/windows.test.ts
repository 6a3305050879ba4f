// A time range has the same rows as a list and as a file, on both stores: including its first instant, excluding its
// last.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Browser, firstOperator } from "../support/browser.ts";
import { stoppedClock } from "../support/clock.ts";
import { type Customer, hello, startGateway, STORES, type TestGateway } from "../support/gateway.ts";

const HOUR_MS = 3_600_000;
const BEGIN = Date.parse("2027-03-05T10:00:00.000Z");
/** Two in one hour, the second in its last millisecond; one at the first instant of the next one. */
const TIMES = [BEGIN + 500, BEGIN + HOUR_MS - 1, BEGIN + HOUR_MS];
const iso = (ms: number): string => new Date(ms).toISOString();

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let root: Browser;
  let customer: Customer;
  const clock = stoppedClock();
  beforeAll(async () => {
    clock.set(iso(BEGIN - 2 * HOUR_MS));
    gateway = await startGateway({ store, clock });
    root = await firstOperator(gateway);
    customer = await gateway.customer();
    for (const [at, time] of TIMES.entries()) {
      clock.set(iso(time));
      expect((await gateway.chat(customer, hello())).status).toBe(200);
      const grant = { org: customer.organizationId, usd: "1", kind: "grant", reference: `window-${at}` };
      expect((await gateway.admin("POST", "/credits", grant)).status).toBeLessThan(300);
    }
    clock.set(iso(BEGIN + 3 * HOUR_MS));
  }, 120_000);
  afterAll(() => gateway.stop());

  const get = (path: string, query: Record<string, string>) =>
    root.send("GET", `/app/v1${path}?${new URLSearchParams(query).toString()}`);
  async function timesOf(path: string, query: Record<string, string>): Promise<string[]> {
    const { status, json } = await get(path, query);
    expect(status).toBe(200);
    return (json as unknown as { data: { at: string }[] }).data.map(({ at }) => at);
  }
  async function fileOf(path: string, query: Record<string, string>): Promise<Record<string, string>[]> {
    const { status, text } = await get(`${path}.csv`, query);
    expect(status).toBe(200);
    const [head = "", ...lines] = text.trim().split("\r\n");
    const names = head.split(",");
    return lines.map((line) =>
      Object.fromEntries(line.split(",").map((cell, at) => [names[at] ?? "", cell])),
    );
  }

  const org = (): string => customer.organizationId;
  const LISTS: [string, () => [string, Record<string, string>]][] = [
    ["activity", () => [`/orgs/${org()}/activity`, {}]],
    ["all requests", () => ["/operator/requests", { org: org() }]],
    ["the audit log", () => [`/orgs/${org()}/audit`, { action: "credits.grant" }]],
    ["the audit log of all", () => ["/operator/audit", { org: org(), action: "credits.grant" }]],
    ["the ledger's grants", () => [`/orgs/${org()}/billing/ledger`, { kind: "grant" }]],
    ["the ledger's charges", () => [`/orgs/${org()}/billing/ledger`, { kind: "charge" }]],
  ];
  const WINDOWS: [Record<string, string>, number[]][] = [
    [{ from: iso(TIMES[0] ?? 0), to: iso(TIMES[1] ?? 0) }, [0]],
    [{ from: iso((TIMES[0] ?? 0) + 1), to: iso((TIMES[1] ?? 0) + 1) }, [1]],
    [{ from: iso(TIMES[1] ?? 0) }, [1, 2]],
    [{ from: iso(BEGIN), to: iso(TIMES[2] ?? 0) }, [0, 1]],
    [{ from: iso(TIMES[2] ?? 0), to: iso((TIMES[2] ?? 0) + 1) }, [2]],
  ];
  for (const [name, list] of LISTS)
    test(`${name}: the same rows as a list and as a file`, async () => {
      const [path, more] = list();
      for (const [window, at] of WINDOWS) {
        const wanted = at.map((one) => iso(TIMES[one] ?? 0)).toReversed();
        expect({ window, list: await timesOf(path, { ...more, ...window }) }).toEqual({
          window,
          list: wanted,
        });
        const file = (await fileOf(path, { ...more, ...window })).map((row) => row["at"]);
        expect({ window, file }).toEqual({ window, file: wanted });
      }
    });

  const USED: [Record<string, string>, number, string, string][] = [
    [{ from: iso(BEGIN + 1000), to: iso(BEGIN + HOUR_MS) }, 2, iso(BEGIN), iso(BEGIN + HOUR_MS)],
    [
      { from: iso(BEGIN + HOUR_MS), to: iso(BEGIN + HOUR_MS + 1) },
      1,
      iso(BEGIN + HOUR_MS),
      iso(BEGIN + 2 * HOUR_MS),
    ],
    [{ from: iso(BEGIN + 1), to: iso(BEGIN + HOUR_MS + 1) }, 3, iso(BEGIN), iso(BEGIN + 2 * HOUR_MS)],
  ];
  test("usage is counted in whole hours, as a list, as a file and for the command line, which says which", async () => {
    for (const [window, requests, from, to] of USED)
      for (const group_by of ["model", "provider"] as const) {
        const query = { ...window, group_by };
        const { json } = await get(`/orgs/${org()}/usage`, query);
        expect({ query, ...json }).toMatchObject({ query, from, to, total: { requests } });
        const file = await fileOf(`/orgs/${org()}/usage`, query);
        expect(file.reduce((sum, row) => sum + Number(row["charged_requests"]), 0)).toBe(requests);
      }
    for (const [window, requests, from, to] of USED) {
      const asked = new URLSearchParams({ org: org(), ...window }).toString();
      const { json } = await gateway.admin("GET", `/usage?${asked}`);
      expect({ window, ...json }).toMatchObject({ window, from, to, data: [{ requests }] });
    }
  });

  test("a file's name contains organization and range", async () => {
    const nameOf = async (path: string, query: Record<string, string>): Promise<string | null> => {
      const { headers } = await get(`${path}.csv`, query);
      return /filename="(.*)"/.exec(headers.get("content-disposition") ?? "")?.[1] ?? null;
    };
    const days = { from: "2027-03-01", to: "2027-03-06" };
    for (const what of ["activity", "audit", "ledger"])
      expect(await nameOf(`/orgs/${org()}/${what === "ledger" ? "billing/ledger" : what}`, days)).toBe(
        `${what}-${org()}-2027-03-01-2027-03-06.csv`,
      );
    expect(await nameOf(`/orgs/${org()}/activity`, { to: "2027-03-06" })).toBe(
      `activity-${org()}-until-2027-03-06.csv`,
    );
    expect(await nameOf(`/orgs/${org()}/activity`, { range: "24h" })).toBe(`activity-${org()}-24h.csv`);
    expect(await nameOf(`/orgs/${org()}/audit`, {})).toBe(`audit-${org()}-all.csv`);
    expect(await nameOf("/operator/requests", days)).toBe("requests-all-2027-03-01-2027-03-06.csv");
    expect(await nameOf(`/orgs/${org()}/usage`, days)).toBe(`usage-${org()}-2027-03-01-2027-03-06.csv`);
  });
});

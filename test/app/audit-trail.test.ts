// Where a change came from: every API records the caller's address and the id of the call in the audit log. The
// gateway's own actions have neither, and members do not learn the addresses of the operator's people.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AppRoute } from "../../src/api/client.ts";
import { nanoUsd } from "../../src/domain/money.ts";
import { type Paying, startPaying } from "../payments/paying.ts";
import { Browser, firstOperator, newMember, PASSWORD, tokenOf } from "../support/browser.ts";
import { STORES, type TestGateway } from "../support/gateway.ts";
import { RESEARCH } from "../support/models.ts";
import { auditLog, type AuditLogRecord } from "../support/audit-log.ts";
import { createLog } from "../../src/lib/log.ts";

const root = join(import.meta.dir, "../..");
const PROXIED = "203.0.113.7";
const usd = (dollars: number) => nanoUsd(BigInt(dollars) * 1_000_000_000n);

for (const store of STORES) {
  describe(`on ${store}`, () => {
    const access: { id: string; path: string; address: string }[] = [];
    const log = createLog("info", {
      write: (line: string) => void access.push(JSON.parse(line) as (typeof access)[number]),
    });
    let paying: Paying;
    let gateway: TestGateway;
    let operator: Browser;
    let org: string;
    let olga: Browser;

    beforeAll(async () => {
      paying = await startPaying(undefined, {
        store,
        log,
        configure: (config) => {
          config.server.trustedProxies = ["127.0.0.0/8", "::1/128"];
          config.signIn.perMinute = 1000;
        },
      });
      ({ gateway } = paying);
      operator = await firstOperator(gateway);
      org = (await operator.app("POST /operator/organizations", {}, { name: "Acme" })).id;
      olga = await newMember(operator, gateway, { org, role: "owner", email: "olga@example.com" });
    }, 120_000);
    afterAll(async () => {
      await gateway.assertSound();
      await paying.stop();
    });

    const lines = (limit = 1000): Promise<AuditLogRecord[]> => auditLog(gateway.ledger, { limit });
    const newest = async (action: string): Promise<AuditLogRecord> => {
      const found = (await lines()).find((line) => line.action === action);
      if (found === undefined) throw new Error(`no line ${action}`);
      return found;
    };
    /** Through the proxy that the gateway trusts. */
    const as =
      (browser: Browser, address = PROXIED) =>
      async (route: AppRoute, params: Record<string, string>, body: unknown): Promise<string> => {
        const answer = await browser.try(route, params, body, { headers: { "x-forwarded-for": address } });
        if (answer.status >= 400) throw new Error(`${route}: ${answer.text}`);
        return answer.headers.get("x-request-id") ?? "";
      };
    const managed = async (path: string, body: unknown, address = PROXIED): Promise<string> => {
      const { token } = JSON.parse(readFileSync(join(gateway.dataDir, "operator.json"), "utf8")) as {
        token: string;
      };
      const response = await fetch(`${gateway.url}/admin/v1${path}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          "x-forwarded-for": address,
        },
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
      return response.headers.get("x-request-id") ?? "";
    };

    test("a session's change: its client's address and the id in its answer", async () => {
      const { version } = await olga.app("GET /orgs/{org}/settings", { org });
      const changes: [string, AppRoute, Record<string, string>, unknown][] = [
        ["key.create", "POST /orgs/{org}/keys", { org }, { name: "one" }],
        ["organization.settings", "PATCH /orgs/{org}/settings", { org }, { name: "Acme Inc", version }],
        [
          "member.invite",
          "POST /orgs/{org}/invitations",
          { org },
          { email: "late@example.com", role: "viewer" },
        ],
        [
          "alert_rule.create",
          "POST /orgs/{org}/alerts/rules",
          { org },
          { kind: "balance_below", amount_usd: "5", channels: [], on: true },
        ],
        [
          "entitlement.request",
          "POST /orgs/{org}/research",
          { org },
          { model: RESEARCH.model, project: "p", purpose: "q" },
        ],
        ["order.create", "POST /orgs/{org}/billing/orders", { org }, { amount_usd: "10" }],
        ["person.rename", "PATCH /profile", {}, { name: "Olga" }],
      ];
      for (const [action, route, params, body] of changes) {
        const requestId = await as(olga)(route, params, body);
        expect([action, requestId]).toEqual([action, expect.stringMatching(/^req_/)]);
        expect(await newest(action)).toMatchObject({ action, address: PROXIED, requestId });
      }
    });

    test("signing in and out, and the links of routes that need no session", async () => {
      const headers = { "x-forwarded-for": PROXIED };
      const browser = new Browser(gateway.url);
      const account = { email: "olga@example.com", password: PASSWORD };
      const signedIn = await browser.send("POST", "/auth/sign-in/email", account, headers);
      const line = { address: PROXIED, requestId: signedIn.headers.get("x-request-id") };
      expect(await newest("person.sign_in")).toMatchObject(line);
      const signedOut = await browser.send("POST", "/auth/sign-out", {}, headers);
      expect(await newest("person.sign_out")).toMatchObject({
        address: PROXIED,
        requestId: signedOut.headers.get("x-request-id"),
      });
      const { link } = await operator.app(
        "POST /operator/organizations/{org}/invitations",
        { org },
        { email: "ned@example.com", role: "developer" },
      );
      const joining = { token: tokenOf(link), account: { name: "Ned", password: PASSWORD } };
      const requestId = await as(new Browser(gateway.url))("POST /invitations/accept", {}, joining);
      expect(await newest("member.join")).toMatchObject({ address: PROXIED, requestId });
    });

    test("a management key's changes, each with its own, even if one batch writes them all", async () => {
      const made = await managed("/organizations", { name: "Managed" });
      expect(await newest("organization.create")).toMatchObject({ address: PROXIED, requestId: made });
      const calls = await Promise.all(
        Array.from({ length: 20 }, async (_, n) => {
          const address = `198.51.100.${n}`;
          const grant = { org, usd: "1", kind: "grant", reference: `batch-${n}` };
          return `${address} ${await managed("/credits", grant, address)}`;
        }),
      );
      const written = (await lines())
        .filter(({ action, target }) => action === "credits.grant" && target.includes("batch-"))
        .map(({ address, requestId }) => `${address} ${requestId}`);
      expect(written).toHaveLength(20);
      expect(new Set(written)).toEqual(new Set(calls));
    });

    test("the command line's: this machine, and the id in the access log", async () => {
      const command = ["org", "create", "--name", "Typed", "--data-dir", gateway.dataDir, "--json"];
      const child = Bun.spawn([join(root, "tollgate"), ...command], { stdin: "ignore", stdout: "ignore" });
      expect(await child.exited).toBe(0);
      const call = access.findLast(({ path }) => path === "/admin/v1/organizations");
      expect(await newest("organization.create")).toMatchObject({
        address: expect.stringMatching(/^(127\.0\.0\.1|::1|::ffff:127\.0\.0\.1)$/),
        requestId: call?.id,
      });
    });

    test("the gateway's own actions have neither: a start, a renewal", async () => {
      const nothing = { address: null, requestId: null };
      expect(await newest("management_key.create")).toMatchObject({ actor: "start", ...nothing });
      const { session } = await paying.order(org, "10", { keepCard: true });
      await paying.fakeStripe.deliver(paying.fakeStripe.paid(session));
      const available = BigInt(Math.ceil(await paying.available(org)));
      const { automatic } = gateway.payments;
      const terms = {
        organizationId: org,
        enabled: true,
        threshold: usd(Number(available) + 1),
        amount: usd(Number(available) + 25),
        monthlyCap: null,
      };
      await automatic.set(terms, await automatic.find(org));
      const failed: unknown[] = [];
      await gateway.payments.runAutomatic((error) => failed.push(error));
      expect(failed).toEqual([]);
      expect(await paying.available(org)).toBeGreaterThan(Number(available));
      expect(await newest("credits.purchase")).toMatchObject(nothing);
    });

    // After the renewal: for a minute after a chargeback no card is charged.
    test("a payment service's event: its credit, its chargeback", async () => {
      const { session } = await paying.order(org, "10");
      const paid = await paying.fakeStripe.deliver(paying.fakeStripe.paid(session));
      expect(await newest("credits.purchase")).toMatchObject({
        actor: expect.stringMatching(/^stripe ord_/),
        address: "127.0.0.1",
        requestId: paid.headers.get("x-request-id"),
      });
      const payment = paying.fakeStripe.account.pay(session);
      const taken = await paying.fakeStripe.deliver(paying.fakeStripe.disputed(payment));
      expect(await newest("credits.chargeback")).toMatchObject({
        address: "127.0.0.1",
        requestId: taken.headers.get("x-request-id"),
      });
    });

    test("every line of a person or a management key has them", async () => {
      const called = (await lines()).filter(({ actor }) => !["start", "first start", "demo"].includes(actor));
      const bare = called.filter(({ address, requestId }) => address === null || requestId === null);
      expect(called.length).toBeGreaterThan(30);
      // The renewal above.
      expect(bare.map(({ action }) => action)).toEqual(["credits.purchase"]);
    });

    const shown = async (browser: Browser, action: string, route: AppRoute = "GET /orgs/{org}/audit") => {
      const { json } = await browser.try(route, { org }, undefined, { query: `?action=${action}&limit=1` });
      return (json as unknown as { data: { address: string | null; request_id: string | null }[] }).data[0];
    };

    test("members see the addresses of their own people, operators those of everyone", async () => {
      const requestId = await as(olga)("POST /orgs/{org}/keys", { org }, { name: "two" });
      const line = { address: PROXIED, request_id: requestId };
      expect(await shown(olga, "key.create")).toMatchObject(line);
      expect(await shown(operator, "key.create", "GET /operator/audit")).toMatchObject(line);
      const dev = { org, role: "developer", email: "dora@example.com" } as const;
      const dora = await newMember(operator, gateway, dev);
      const own = await as(dora, "203.0.113.8")("POST /orgs/{org}/keys", { org }, { name: "three" });
      expect(await shown(dora, "key.create")).toMatchObject({ address: "203.0.113.8", request_id: own });
    });

    test("a member never learns the address of an operator, of a former one, of a management key or of a service", async () => {
      const house = "192.0.2.99";
      const csvOf = async (browser: Browser): Promise<string> =>
        (await browser.send("GET", `/app/v1/orgs/${org}/audit.csv`)).text;
      const granted = { org, amount_usd: "1", kind: "grant", reference: "house", reason: "agreed" };
      const second = await newOperator(operator, gateway, "second@example.com");
      const requestId = await as(second, house)("POST /operator/credits", {}, granted);
      await managed("/keys", { org, name: "of the house" }, house);
      const bill = { org, role: "billing", email: "bill@example.com" } as const;
      const billing = await newMember(operator, gateway, bill);
      const hidden = async (): Promise<void> => {
        const line = { address: null, request_id: requestId };
        expect(await shown(olga, "credits.reason")).toMatchObject(line);
        for (const member of [olga, billing]) {
          expect(await shown(member, "credits.grant")).toMatchObject({ address: null });
          expect(await csvOf(member)).not.toContain(house);
        }
        expect(await shown(olga, "key.create")).toMatchObject({ address: null });
        expect(await shown(olga, "credits.purchase")).toMatchObject({ address: null });
        expect(await shown(operator, "credits.reason")).toMatchObject({ ...line, address: house });
        expect(await csvOf(operator)).toContain(house);
      };
      await hidden();
      const { person } = await second.app("GET /session");
      await operator.app("DELETE /operator/people/{person}", { person: person?.id ?? "" });
      await hidden();
      expect(await csvOf(olga)).toContain(`${PROXIED},req_`);
      expect((await operator.send("GET", "/app/v1/operator/audit.csv")).text).toContain(
        `${house},${requestId}`,
      );
    });

    test("a line is found by its id, in its own organization only", async () => {
      const { data } = await olga.app("GET /orgs/{org}/audit", { org }, undefined, "?limit=2");
      const asked = async (browser: Browser, of: string, line: string): Promise<unknown[]> =>
        (await browser.app("GET /orgs/{org}/audit", { org: of }, undefined, `?line=${line}`)).data;
      expect(await asked(olga, org, data[1]?.id ?? "")).toEqual([data[1]]);
      const other = (await operator.app("POST /operator/organizations", {}, { name: "Other" })).id;
      expect(await asked(operator, other, data[1]?.id ?? "")).toEqual([]);
      for (const nonsense of ["nothing", "-1", "1.5", "aud_", "%27"])
        expect(await asked(olga, org, nonsense)).toEqual([]);
    });

    if (store === "sqlite")
      test("the line never changes", () => {
        const database = new Database(join(gateway.dataDir, "tollgate.sqlite"));
        for (const statement of [
          "UPDATE audit_log SET address = NULL",
          "UPDATE audit_log SET request_id = 'req_other'",
          "DELETE FROM audit_log",
        ])
          expect(() => database.run(statement)).toThrow(/append-only/);
        database.close();
      });
  });
}

async function newOperator(operator: Browser, { url }: TestGateway, email: string): Promise<Browser> {
  const { link } = await operator.app("POST /operator/people", {}, { email });
  const browser = new Browser(url);
  const account = { name: "Second", password: PASSWORD };
  await browser.app("POST /invitations/accept", {}, { token: tokenOf(link), account });
  return browser;
}

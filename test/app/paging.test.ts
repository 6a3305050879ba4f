// Every paged list, walked over many rows of one millisecond: each row comes once, whatever the page length, and a
// cursor that no page gave is refused (hardening.md 142). Generated over the contract, so that a new list is
// included.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AppRoute } from "../../src/api/client.ts";
import { byItself } from "../../src/domain/actor.ts";
import { endExpiredKeys } from "../../src/registry/key-life.ts";
import { appRoutes } from "../support/endpoints.ts";
import { startReceiver } from "../alerts/receiver.ts";
import { type Paying, startPaying } from "../payments/paying.ts";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { stoppedClock } from "../support/clock.ts";
import type { TestGateway } from "../support/gateway.ts";
import { PLAIN, RESEARCH } from "../support/models.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";

const ROWS = 7;
const times = <T>(work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: ROWS }, (_, i) => work(i)));

const LISTS = appRoutes().filter(([, { query, answer }]) => "cursor" in query.shape && answer === "json");
/**
 * Nothing is held while nothing runs; no record is damaged (test/ledger has pages of such), and no books are broken
 * (test/app/many-records.test.ts has pages of such).
 */
const EMPTY: AppRoute[] = [
  "GET /orgs/{org}/billing/holds",
  "GET /operator/quarantine",
  "GET /operator/stopped",
];

/** The fields that do not change when a delivery is retried, or when somebody looks meanwhile. */
const lasting = (row: unknown): unknown => {
  if (typeof row !== "object" || row === null) return row;
  return "tries" in row && "id" in row ? row.id : { ...row, last_seen_at: null };
};

describe.each(["sqlite", "postgresql"] as const)("on %s", (store) => {
  let database: TestDatabase | null = null;
  let paying: Paying;
  let gateway: TestGateway;
  let root: Browser;
  let owner: Browser;
  let org: string;
  const clock = stoppedClock();

  beforeAll(async () => {
    if (store === "postgresql") database = await (await testPostgres()).migrated();
    paying = await startPaying(clock, {
      configure: (config) => {
        config.databaseUrl = database?.url ?? null;
        config.alerts.privateTargets = true;
      },
    });
    ({ gateway } = paying);
    root = await firstOperator(gateway);
    const customer = await gateway.customer();
    org = customer.organizationId;
    owner = await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
    await times((i) => owner.app("POST /orgs/{org}/keys", { org }, { name: `key ${i}` }));
    for (let i = 0; i < ROWS; i += 1)
      await newMember(root, gateway, { org, role: "viewer", email: `many${i}@example.com` });
    await times((i) => root.app("POST /operator/people", {}, { email: `operator${i}@example.com` }));
    const others = await times(() => gateway.customer({ usd: "0" }));
    for (const at of [org, others[0]?.organizationId ?? ""])
      await times((i) => gateway.admin("POST", "/credits", { org: at, usd: "1", reference: `grant ${i}` }));
    await times((i) => gateway.publish({ ...PLAIN, model: `model-${i}` }, { nowMs: clock.nowMs() }));
    await times(async (i) => {
      const request = { model: PLAIN.model, messages: [{ role: "user", content: `${i}` }], max_tokens: 4 };
      expect((await gateway.chat(customer, request)).status).toBe(200);
    });
    await times(() =>
      owner.app("POST /orgs/{org}/research", { org }, { model: RESEARCH.model, project: "p", purpose: "q" }),
    );
    await times(async () => {
      const { session } = await paying.order(org);
      await paying.fakeStripe.deliver(paying.fakeStripe.paid(session));
    });
    await times((i) => root.app("POST /operator/management-keys", {}, { name: `script ${i}` }));
    const receiver = startReceiver();
    const channel = await owner.app(
      "POST /orgs/{org}/alerts/channels",
      { org },
      { kind: "webhook", name: "Pager", target: receiver.url },
    );
    await times(() =>
      owner.app("POST /orgs/{org}/alerts/channels/{channel}/test", { org, channel: channel.id }),
    );
    await receiver.stop();
  }, 120_000);
  afterAll(async () => {
    await paying.stop();
    await database?.drop();
  });

  test("GET /operator/credits names who granted each of several credits in one millisecond", async () => {
    const grant = { org, amount_usd: "1", kind: "grant", reference: "by hand", reason: "test" };
    await Promise.all([
      root.app("POST /operator/credits", {}, grant),
      gateway.admin("POST", "/credits", { org, usd: "1", reference: "by key" }),
    ]);
    const { data } = await root.app("GET /operator/credits", {}, undefined, `?org=${org}&limit=200`);
    const named = data.filter(({ by }) => by?.name === "Root").map(({ reference }) => reference);
    expect(named).toEqual(["by hand"]);
  });

  test("keys are filtered by scope, by state and by who made them", async () => {
    const make = async (name: string, more: object = {}, by = owner) =>
      (await by.app("POST /orgs/{org}/keys", { org }, { name, ...more })).id;
    const gone = await newMember(root, gateway, { org, role: "admin", email: "gone@example.com" });
    const { id: person = "" } = (await gone.app("GET /session")).person ?? {};
    const soon = new Date(clock.nowMs() + 60_000).toISOString();
    const keys = {
      orphan: await make("made by Gone", {}, gone),
      blocked: await make("nothing_left", { limit_usd: "0" }),
      paused: await make("paused"),
      expired: await make("expired", { expires_at: soon }),
      revoked: await make("revoked"),
      research: await make("research", { scope: "research" }),
    };
    await owner.app("POST /orgs/{org}/keys/{key}/pause", { org, key: keys.paused });
    await owner.app("POST /orgs/{org}/keys/{key}/revoke", { org, key: keys.revoked });
    await owner.app("DELETE /orgs/{org}/team/{member}", { org, member: person });
    clock.advance(60_001);
    const all = (await owner.app("GET /orgs/{org}/keys", { org })).data;
    const shown = async (query: string): Promise<string[]> => {
      const ids: string[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page: { data: { id: string }[]; next_cursor: string | null } = await owner.app(
          "GET /orgs/{org}/keys",
          { org },
          undefined,
          `?${query}&limit=2${cursor && `&cursor=${cursor}`}`,
        );
        ids.push(...page.data.map(({ id }) => id));
        cursor = page.next_cursor;
      }
      return ids;
    };
    const those = (fits: (key: (typeof all)[number]) => boolean) => all.filter(fits).map(({ id }) => id);
    for (const state of ["active", "blocked_by_limit", "paused", "expired", "revoked"] as const)
      expect([state, await shown(`state=${state}`)]).toEqual([state, those((key) => key.state === state)]);
    expect(await shown("state=usable")).toEqual(those(({ status }) => status === "active"));
    expect(await shown("state=not_over")).toEqual(
      those(({ status }) => status === "active" || status === "paused"),
    );
    expect(await shown("scope=research")).toEqual([keys.research]);
    expect(await shown("by=left")).toEqual([keys.orphan]);
    expect(await shown(`by=${person}`)).toEqual([keys.orphan]);
    expect(await shown("search=THING_L")).toEqual([keys.blocked]);
    expect(await shown(`search=${keys.paused}`)).toEqual([keys.paused]);
    const made = await owner.app("GET /orgs/{org}/key-makers", { org });
    expect(made.orphans).toBe(1);
    expect(made.data.filter(({ left }) => left)).toEqual([{ id: person, name: "gone", left: true, keys: 1 }]);
    const makersBy = (search: string) =>
      owner.app("GET /orgs/{org}/key-makers", { org }, undefined, `?search=${encodeURIComponent(search)}`);
    for (const search of ["GON", "one@EXAMPLE.com", person]) {
      const named = await makersBy(search);
      expect([search, named.data.map(({ id }) => id), named.orphans]).toEqual([search, [person], 1]);
    }
    expect(await makersBy("nobody at all")).toMatchObject({ data: [], orphans: 1 });
    const narrow = await make("narrow", { allowed_models: ["other_model"] });
    const may = (model: string) => shown(`state=active&scope=standard&model=${model}`);
    const unbound = all.filter(({ state, scope }) => state === "active" && scope === "standard");
    expect(await may("other_model")).toEqual([narrow, ...unbound.map(({ id }) => id)]);
    expect(await may("otherXmodel")).toEqual(unbound.map(({ id }) => id));
    expect(await may("OTHER_MODEL")).toEqual(unbound.map(({ id }) => id));
    const { revoked, expired } = await owner.app("GET /orgs/{org}/keys", { org });
    expect([revoked, expired]).toEqual([1, 1]);
    // Otherwise the job that does it may write its line of the audit log between two reads of the tests below.
    await endExpiredKeys(gateway.ledger, byItself("expiry"));
  });

  interface List {
    data: unknown[];
    next_cursor: string | null;
  }
  const pageOf = async (route: AppRoute, query: string): Promise<List> => {
    const by = route.includes("/operator/") ? root : owner;
    const { data, next_cursor } = (await by.app(route, { org }, undefined, query)) as unknown as List;
    return { data: data.map(lasting), next_cursor };
  };

  test.each(["GET /operator/people", "GET /orgs/{org}/team", "GET /orgs/{org}/keys"] as const)(
    "%s with a search that finds nothing is an empty page",
    async (route) => {
      expect(await pageOf(route, "?search=nobody%20at%20all")).toEqual({ data: [], next_cursor: null });
    },
  );

  for (const [route] of LISTS) {
    test(`${route} gives each row once, in pages of any length`, async () => {
      const whole = await pageOf(route, "?limit=200");
      expect(whole.next_cursor).toBeNull();
      if (!EMPTY.includes(route)) expect(whole.data.length).toBeGreaterThanOrEqual(ROWS);
      for (const limit of [1, 3, whole.data.length]) {
        if (limit === 0) continue;
        const walked: unknown[] = [];
        let cursor: string | null = "";
        while (cursor !== null) {
          const page: List = await pageOf(
            route,
            `?limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
          );
          expect(page.data.length).toBeLessThanOrEqual(limit);
          walked.push(...page.data);
          cursor = walked.length > whole.data.length ? null : page.next_cursor;
        }
        expect({ limit, walked }).toEqual({ limit, walked: whole.data });
      }
    });

    test(`${route} refuses a forged cursor`, async () => {
      for (const forged of ["x", "' OR 1=1--", "1.", "-1", "1.x.y.z", "🧾"]) {
        const browser = route.includes("/operator/") ? root : owner;
        const query = `?cursor=${encodeURIComponent(forged)}`;
        const answer = await browser.try(route, { org }, undefined, { query });
        expect([forged, answer.status, answer.json.error?.code]).toEqual([forged, 400, "invalid_request"]);
      }
    });
  }
});

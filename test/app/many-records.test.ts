// Lists of the operator API that came whole before they had pages, over thousands of rows: each row comes once, in the
// order of before, while rows are added; a search finds one of them; every statement uses an index
// (docs/decisions/0094-lists-that-came-whole.md).
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import pg from "pg";
import { stoppedAfter } from "../../src/ledger/stops.ts";
import type { Work } from "../../src/ledger/ledger.ts";
import { entitlementsByUrgency, entitlementsInOrder } from "../../src/registry/entitlement-pages.ts";
import { organizationsAfter } from "../../src/registry/organizations.ts";
import { managementKeysPage } from "../../src/reporting/management-keys.ts";
import { type Sql, type SqlRow, type SqlValue, textIn } from "../../src/store/sql.ts";
import { type Browser, firstOperator } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";

const MANY = 3_000;
/** Of one organization: what entitlements have cost is read for each. */
const FEWER = 600;
const NUMBERS = `WITH RECURSIVE n(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})`;

interface List<Row = Record<string, unknown>> {
  data: Row[];
  next_cursor: string | null;
}

describe.each(["sqlite", "postgresql"] as const)("on %s", (store) => {
  let database: TestDatabase | null = null;
  let client: pg.Client | null = null;
  let gateway: TestGateway;
  let root: Browser;
  let org: string;
  let late = 0;

  /** Runs a statement in the ledger's store, or where people are kept. */
  async function run(text: string, where: "ledger" | "people" = "ledger"): Promise<void> {
    if (client !== null) {
      await client.query(`SET search_path TO ${where === "people" ? "people" : "public"}`);
      await client.query(text);
      return;
    }
    const file = where === "people" ? "people.sqlite" : "tollgate.sqlite";
    const opened = new Database(join(gateway.dataDir, file));
    opened.run("PRAGMA busy_timeout = 5000");
    opened.run(text);
    opened.close();
  }

  const padded = (n: string): string =>
    store === "sqlite" ? `printf('%06d', ${n})` : `lpad((${n})::text, 6, '0')`;
  const bytes = store === "sqlite" ? "zeroblob(32)" : "decode(repeat('00', 32), 'hex')";

  /** Rows of one instant come in groups of ten, so that a page ends among rows of the same time. */
  async function fill(): Promise<void> {
    const id = padded("i");
    await run(
      `${NUMBERS} INSERT INTO organization (org_id, name, created_at) SELECT 'org_m' || ${id}, 'Customer ' || i, 1000 + i / 10 FROM n`,
    );
    await run(`${NUMBERS} INSERT INTO api_key (org_id, key_id, name, prefix, digest, scope, created_at, revoked_at)
      SELECT '${org}', 'key_m' || ${id}, 'Key ' || i, 'gw_sk_m' || i, ${bytes}, 'standard', 1000 + i / 10,
        CASE WHEN i % 4 = 0 THEN NULL ELSE 2000 + i END FROM n`);
    await run(`${NUMBERS} INSERT INTO entitlement (org_id, model, id, project, state, requested_by, created_at, approved_at, expires_at, revoked_at)
      SELECT CASE WHEN i <= ${FEWER} THEN '${org}' ELSE 'org_m000001' END, 'model-' || (i % 7), 'ent_m' || ${id}, 'Project ' || i,
        CASE i % 3 WHEN 0 THEN 'requested' WHEN 1 THEN 'active' ELSE 'revoked' END, 'usr_nobody', 1000 + i / 10,
        CASE WHEN i % 3 = 0 THEN NULL ELSE 2000 END, CASE WHEN i % 3 = 0 THEN NULL WHEN i % 6 = 1 THEN 3000 ELSE 4000000000000 + i / 10 END,
        CASE WHEN i % 3 = 2 THEN 3000 ELSE NULL END FROM n`);
    await run(`${NUMBERS} INSERT INTO management_key (id, name, prefix, digest, created_at, revoked_at)
      SELECT 'mk_m' || ${id}, 'Script ' || i, 'gw_mk_m' || i, CAST(${bytes} AS ${store === "sqlite" ? "BLOB" : "BYTEA"}) , 1000 + i / 10,
        CASE WHEN i % 2 = 0 THEN 2000 ELSE NULL END FROM n`);
    await run(
      `${NUMBERS} INSERT INTO usage_hour (org_id, key_id, model, hour, requests, input_tokens, cached_tokens, output_tokens, charge)
       SELECT '${org}', 'key_m' || ${id}, 'm' || (i % 3), 400000 + i % 50, 1, 1, 0, 1, 1 FROM n`,
    );
    const made = store === "sqlite" ? "'2026-11-01T00:00:00.000Z'" : "timestamptz '2026-11-01'";
    await run(
      `${NUMBERS} INSERT INTO "user" (id, name, email, "emailVerified", "createdAt", "updatedAt", operator)
       SELECT 'usr_m' || ${id}, 'Person ' || i, 'person' || i || '@example.com', ${store === "sqlite" ? "1" : "true"}, ${made}, ${made}, ${store === "sqlite" ? "0" : "false"} FROM n`,
      "people",
    );
  }

  beforeAll(async () => {
    if (store === "postgresql") {
      database = await (await testPostgres()).migrated();
      client = new pg.Client({ connectionString: database.url });
      await client.connect();
    }
    gateway = await startGateway({
      store: "sqlite",
      configure: (config) => (config.databaseUrl = database?.url ?? null),
    });
    root = await firstOperator(gateway);
    org = (await gateway.customer({ usd: "0" })).organizationId;
    await fill();
  });
  afterAll(async () => {
    await gateway.stop();
    await client?.end();
    await database?.drop();
  });

  /** All rows of a list in pages of this length; `between` runs after the first page. */
  async function walked(
    ask: (query: string) => Promise<List>,
    limit: number,
    between: () => Promise<unknown> = async () => undefined,
  ): Promise<Record<string, unknown>[]> {
    const rows: Record<string, unknown>[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: List = await ask(
        `limit=${limit}${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      expect(page.data.length).toBeLessThanOrEqual(limit);
      if (cursor === "") await between();
      rows.push(...page.data);
      cursor = page.next_cursor;
    }
    return rows;
  }
  const asked =
    (path: string) =>
    async (query: string): Promise<List> => {
      const { status, json } = await gateway.admin<List>(
        "GET",
        `${path}${path.includes("?") ? "&" : "?"}${query}`,
      );
      expect(status).toBe(200);
      return json;
    };
  const numbered = (prefix: string): string[] =>
    Array.from({ length: MANY }, (_, i) => `${prefix}${String(i + 1).padStart(6, "0")}`);
  const idsIn = (rows: readonly Record<string, unknown>[], prefix: string, field = "id"): string[] =>
    rows.map((row) => String(row[field])).filter((id) => prefix === "" || isNumbered(id, prefix));
  /** Ids that the gateway makes are random, and may begin alike. */
  const isNumbered = (id: string, prefix: string): boolean =>
    id.startsWith(prefix) && /^\d{0,6}$/.test(id.slice(prefix.length));

  /** The path, the ids of its rows, and something that adds a row while somebody reads. */
  const lists = (): [path: string, prefix: string, add: () => Promise<unknown>][] => [
    ["/organizations", "org_m", () => gateway.admin("POST", "/organizations", { name: "Meanwhile" })],
    [`/keys?org=${org}`, "key_m", () => gateway.key(org)],
    [
      "/entitlements",
      "ent_m",
      () =>
        run(`INSERT INTO entitlement (org_id, model, id, project, state, requested_by, created_at)
          VALUES ('${org}', 'm', 'ent_late${(late += 1)}', 'late', 'requested', 'usr_nobody', ${Date.now()})`),
    ],
    [
      "/people",
      "usr_m",
      () => root.app("POST /operator/people", {}, { email: `late${Date.now()}@example.com` }),
    ],
  ];

  test("each row comes once and in order, in pages of any length, while rows are added", async () => {
    for (const [path, prefix, add] of lists()) {
      const first = await asked(path)("");
      expect([path, first.data.length, typeof first.next_cursor]).toEqual([path, 1_000, "string"]);
      for (const limit of [700, 1_000])
        expect(idsIn(await walked(asked(path), limit, add), prefix)).toEqual(numbered(prefix));
      const { status } = await gateway.admin("GET", `${path}${path.includes("?") ? "&" : "?"}limit=1001`);
      expect([path, status]).toEqual([path, 400]);
    }
  });

  test("one of thousands is found by what is typed of it", async () => {
    for (const [path, search, id] of [
      ["/organizations", "tomer 2999", "org_m002999"],
      ["/organizations", "org_m002999", "org_m002999"],
      [`/keys?org=${org}`, "sk_m2999", "key_m002999"],
      ["/entitlements", "ject 2999", "ent_m002999"],
      ["/people", "PERSON2999@", "usr_m002999"],
    ] as const)
      expect(idsIn((await asked(path)(`search=${encodeURIComponent(search)}`)).data, "")).toEqual([id]);
    const live = await walked(asked(`/keys?org=${org}&state=not_over`), 1_000);
    expect(idsIn(live, "key_m")).toEqual(numbered("key_m").filter((_, i) => i % 4 === 3));
    const waiting = await walked(asked("/entitlements?status=requested"), 1_000);
    expect(idsIn(waiting, "ent_m")).toEqual(numbered("ent_m").filter((_, i) => i % 3 === 2));
  });

  test("usage by key comes in pages whose sums are the whole; a cursor of another grouping is refused", async () => {
    const rows = await walked(asked(`/usage?org=${org}&group_by=key`), 700);
    expect(idsIn(rows, "key_m", "group")).toEqual(numbered("key_m"));
    expect(rows.reduce((sum, row) => sum + Number(row["requests"]), 0)).toBe(MANY);
    expect(idsIn(await walked(asked(`/usage?org=${org}&group_by=model`), 2), "m", "group")).toEqual([
      "m0",
      "m1",
      "m2",
    ]);
    expect((await walked(asked(`/usage?org=${org}&group_by=day`), 1)).length).toBe(3);
    for (const query of ["group_by=key&cursor=m1", "group_by=day&cursor=2026-13-45", "cursor=key_m000001"])
      expect((await gateway.admin("GET", `/usage?org=${org}&${query}`)).status).toBe(400);
  });

  test("operators page through requests to decide, by urgency, and through management keys", async () => {
    const of = (path: string) => async (query: string) =>
      (await root.send<List>("GET", `/app/v1${path}${path.includes("?") ? "&" : "?"}${query}`)).json;
    const all = await walked(of(`/operator/entitlements?org=${org}`), 200);
    const ids = idsIn(all, "ent_m");
    expect([ids.length, new Set(ids).size]).toEqual([FEWER, FEWER]);
    const by = (rest: (i: number) => boolean): string[] =>
      numbered("ent_m")
        .slice(0, FEWER)
        .filter((_, i) => rest(i + 1));
    const waiting = by((i) => i % 3 === 0);
    const active = by((i) => i % 3 === 1 && i % 6 !== 1);
    const over = by((i) => i % 3 === 2 || i % 6 === 1).toReversed();
    expect(ids).toEqual([...waiting, ...active, ...over]);
    for (const [state, wanted] of [
      ["requested", waiting],
      ["active", active],
      ["expired", by((i) => i % 6 === 1).toReversed()],
      ["revoked", by((i) => i % 3 === 2).toReversed()],
      ["declined", []],
    ] as const) {
      const { data } = await of(`/operator/entitlements?org=${org}&state=${state}`)("limit=20");
      expect([state, idsIn(data, "ent_m")]).toEqual([state, wanted.slice(0, 20)]);
    }
    const own = await of(`/orgs/${org}/research?search=PROJECT%20599`)("");
    expect(idsIn(own.data, "")).toEqual(["ent_m000599"]);
    const scripts = await walked(of("/operator/management-keys"), 200, () =>
      root.app("POST /operator/management-keys", {}, { name: "Meanwhile" }),
    );
    expect(idsIn(scripts, "mk_m")).toEqual(numbered("mk_m").toReversed());
    const found = await of("/operator/management-keys?state=active")("search=SCRIPT%202999");
    expect(idsIn(found.data, "")).toEqual(["mk_m002999"]);
  });

  test("thousands of stopped organizations come in pages, on both APIs", async () => {
    await run(`${NUMBERS} INSERT INTO stopped_organization (org_id, since, violations, base)
      SELECT 'org_m' || ${padded("i")}, CASE WHEN i % 5 = 0 THEN NULL ELSE 1000 END, '[]', '{}' FROM n`);
    const wanted = numbered("org_m").filter((_, i) => (i + 1) % 5 !== 0);
    expect(idsIn(await walked(asked("/ledger/stopped"), 1_000), "", "org")).toEqual(wanted);
    const page = await root.app("GET /operator/stopped");
    expect([page.data.length, page.next_cursor]).toEqual([50, "org_m000062"]);
  });

  test("the first page and the next are read through an index on their order", async () => {
    const stored = new Database(join(gateway.dataDir, "tollgate.sqlite"));
    const numbers = (text: string): string => text.replaceAll(/\?(\d+)/g, "$$$1");
    const scanned: string[] = [];
    const rows = async (text: string, ...values: SqlValue[]): Promise<SqlRow[]> => {
      if (client === null) {
        const plan = stored.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${text}`).all();
        scanned.push(
          ...plan.flatMap(({ detail }) =>
            /^SCAN (?!.*INDEX)|^USE TEMP B-TREE FOR ORDER/.test(detail) ? `${detail}: ${text}` : [],
          ),
        );
        return stored.query(text).all(...(values as string[])) as SqlRow[];
      }
      const plan = await client.query<Record<string, string>>(`EXPLAIN ${numbers(text)}`, values);
      // The audit log has a few lines here, which PostgreSQL reads whole.
      const steps = plan.rows.map((row) => row["QUERY PLAN"] ?? "");
      scanned.push(
        ...steps.flatMap((step) =>
          /Seq Scan on (?!audit_log)|^ *(->)? *Sort/.test(step) ? `${step}: ${text}` : [],
        ),
      );
      return (await client.query<SqlRow>(numbers(text), values)).rows;
    };
    const dialect = store;
    const reader = {
      read: async <T>(work: Work<T>): Promise<T> => {
        const query = work(Date.now());
        let next = query.next();
        while (!next.done) next = query.next(await rows(textIn(dialect, next.value), ...next.value.values));
        return next.value;
      },
    };
    if (client !== null) {
      await client.query("SET search_path TO public");
      await client.query("ANALYZE");
    }
    const most = 51;
    const search = "";
    await organizationsAfter(reader, { after: null, search, most });
    await organizationsAfter(reader, { after: "org_m001000", search, most });
    for (const order of ["oldest", "newest"] as const)
      for (const after of [null, "ent_m001000"])
        for (const organizationId of [undefined, "org_m000001"])
          await entitlementsInOrder(reader, order, { organizationId, after, most });
    await entitlementsByUrgency(reader, null, { most });
    await entitlementsByUrgency(reader, null, { organizationId: "org_m000001", most });
    for (const part of ["requested", "active", "over"] as const)
      await entitlementsByUrgency(
        reader,
        { asOfMs: Date.now(), part, after: part === "active" ? "ent_m001003" : "ent_m001002" },
        { most },
      );
    await stoppedAfter(reader, { after: "org_m001000", most });
    const on = {
      sql: { dialect, rows } as Sql,
      clock: { nowMs: Date.now },
      people: { persons: async () => [] },
    };
    await managementKeysPage(on as never, {});
    await managementKeysPage(on as never, { cursor: "mk_m001000" });
    stored.close();
    expect(scanned).toEqual([]);
  });

  test("a filter that names an unknown organization, key or route says so", async () => {
    for (const [path, param] of [
      ["/operator/credits?org=org_none", "org"],
      ["/operator/credits.csv?org=org_none", "org"],
      ["/operator/payments?org=org_none", "org"],
      ["/operator/payments.csv?org=org_none", "org"],
      ["/operator/orders?org=org_none", "org"],
      ["/operator/orders.csv?org=org_none", "org"],
      ["/operator/entitlements?org=org_none", "org"],
      ["/operator/requests?org=org_none", "org"],
      ["/operator/requests.csv?org=org_none", "org"],
      ["/operator/audit?org=org_none", "org"],
      ["/operator/audit.csv?org=org_none", "org"],
      [`/orgs/${org}/activity/tail?key=key_none`, "key"],
      ["/operator/releases?route=none", "route"],
    ] as const) {
      const answer = await root.send<{ error: { code: string; param: string; message: string } }>(
        "GET",
        `/app/v1${path}`,
      );
      expect([path, answer.status, answer.json.error]).toMatchObject([
        path,
        404,
        { code: "not_found", param, message: expect.stringContaining("none") },
      ]);
    }
  });
});

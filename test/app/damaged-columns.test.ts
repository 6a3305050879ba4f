// Damages every column of every table in one row, one at a time, while the gateway runs: only a call for that very
// record may be refused, and names it. Every page, list, file and the audit answer, and other customers' requests
// run. The columns come from the schema (src/store/tables.ts, and the people's tables themselves), so that a new one
// is included automatically.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { methodOf, pathFields, pathOf } from "../../src/api/target.ts";
import { mendRunning } from "../../src/ledger/rate-running.ts";
import { type Columns, TABLES } from "../../src/store/tables.ts";
import { type Browser, firstOperator, newMember, PASSWORD } from "../support/browser.ts";
import { type Damage, damage, type Disk, openDisk } from "../support/damage.ts";
import { TARGETS } from "../support/endpoints.ts";
import { entitled } from "../support/entitled.ts";
import { fillEveryTable } from "../support/every-table.ts";
import { type Customer, hello, startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { PLAIN, RESEARCH, type TestManifest } from "../support/models.ts";
import { waitFor } from "../support/wait.ts";

/** Of the damaged customer only: a route whose release is damaged is closed. */
const OWN: TestManifest = { ...RESEARCH, model: "damaged-1", upstream_model: "sim-damaged-1" };
/**
 * Read at the start and by the program itself; their columns belong to no one's record. The outbox empties itself;
 * written-down-people.test.ts covers its damaged lines.
 */
const OF_THE_PROGRAM = ["instance", "schema_migration", "store_state", "auditOutbox"];
/** Calls for one record: they may be refused if that record is damaged. */
const OF_ONE_RECORD =
  /\{(request|order|key|id)\}|\/billing(\/statement(\.csv|\.pdf)?)?$|^GET \/admin\/v1\/statement$|^GET \/v1\//;
/** Calls about a request; the rest of the walk is about its key or organization, or about all. */
const OF_ONE_REQUEST = /\{(request|id)\}|^GET \/v1\/(generation|receipts)/;
const NAMED = "A record in the store is damaged: ";
/** Their damage may hide the effect of another one, so they share no round with other tables' columns. */
const HIDING = [
  "api_key",
  "org_balance",
  "organization",
  "organizationRule",
  "request",
  "stopped_organization", // a stop caused by other damage would replace the damaged row
];
/** How many columns of a request are damaged at a time, each in a row of its own; all rows are requested. */
const ROWS = 10;
/** Concurrent calls. */
const AT_ONCE = 4;
/** The index of its round among those of its table. */
const turnOf = ({ table, nth }: Damage): number => (table === "request" ? Math.floor(nth / ROWS) : nth);
const roundOf = (column: Damage): string =>
  HIDING.includes(column.table) ? `${column.table} ${turnOf(column)}` : `${column.nth}`;

/** Who requests the pages of an organization. */
type Asker = "operator" | "owner";
const EITHER: readonly Asker[] = ["operator", "owner"];
/** In rounds of a single table they take turns: what differs between them is read from other tables. */
const askersOf = ([first]: readonly Damage[]): readonly Asker[] => {
  if (first === undefined || !HIDING.includes(first.table)) return EITHER;
  return turnOf(first) % 2 === 0 ? ["owner"] : ["operator"];
};

/** A finished request of the damaged customer. */
interface Paid {
  request: string;
  retry: { "idempotency-key": string };
}

function isMoney(table: string, column: string): boolean {
  if (!(table in TABLES)) return false;
  const { money = "", moneyOrNull = "" }: Columns = TABLES[table as keyof typeof TABLES];
  return `${money} ${moneyOrNull}`.split(" ").includes(column);
}
const nameOf = ({ table, column }: Damage): string => `${table}.${column}`;

const isJson = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("application/json") ?? false;

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Asked {
  target: string;
  ask: () => Promise<Response>;
}

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let disk: Disk;
  let root: Browser;
  let owner: Browser;
  let damaged: Customer;
  let healthy: Customer;
  /** The first one is requested throughout, the others while they are damaged. */
  const paid: Paid[] = [];
  /** The row of a table to damage; by default the first one. */
  let rows: Record<string, string>;
  const running = new AbortController();

  beforeAll(async () => {
    let databaseUrl: string | null = null;
    gateway = await startGateway({
      models: [PLAIN, OWN],
      store,
      configure: (config) => {
        config.signIn.perMinute = 10_000;
        databaseUrl = config.databaseUrl;
      },
    });
    root = await firstOperator(gateway);
    disk = await openDisk({ dataDir: gateway.dataDir, databaseUrl });
    healthy = await gateway.customer();
    damaged = await gateway.customer({ scope: "research", limitUsd: "3" });
    const org = damaged.organizationId;
    await gateway.admin("POST", `/keys/${damaged.keyId}/update`, { day_limit_usd: "3", week_limit_usd: "3" });
    await gateway.admin("POST", "/limits", { key: damaged.keyId, requests_per_minute: 100_000 });
    const entitlement = await entitled(gateway, { org, model: "damaged-1", untilMs: Date.now() + 1e9 });
    for (let nth = 0; nth < ROWS; nth += 1) {
      const retry = { "idempotency-key": `damaged-columns-${nth}` };
      const { headers } = await gateway.chat(damaged, hello("damaged-1"), retry);
      await gateway.chat(damaged, hello("damaged-1"), retry);
      paid.push({ request: headers.get("x-request-id") ?? "", retry });
    }
    await gateway.chat(damaged, { ...hello("damaged-1"), max_tokens: 8000, n: 4 });
    // Everything damaged has a neighbour in the same sum.
    const second = await gateway.key(org, { scope: "research" });
    await gateway.chat(second, hello("damaged-1"));
    const poor = await gateway.key(org, { scope: "research", limitUsd: "0" });
    await gateway.chat(poor, hello("damaged-1"));
    owner = await newMember(root, gateway, { org, role: "owner", email: "owner@example.com" });
    const victim = await newMember(root, gateway, { org, role: "developer", email: "victim@example.com" });
    const { person } = await victim.app("GET /session");
    const { id: personId = "" } = person ?? {};
    await root.app("POST /operator/management-keys", {}, { name: "damaged" });
    const invited = { email: "invited@example.com", role: "viewer" };
    await root.app("POST /operator/organizations/{org}/invitations", { org }, invited);
    await victim.app("PUT /orgs/{org}/usage/views", { org }, { name: "mine", query: "?range=24h" });
    await victim.send("POST", "/auth/two-factor/enable", { password: PASSWORD });
    const form = { "idempotency-key": "form-00001" };
    await root.send("POST", "/app/v1/operator/management-keys", { name: "form" }, form);
    // One that runs as long as the test does: its parts are stored, and the quarantine names it.
    gateway.simulator.behave({ behaviour: { tokens_per_second: 5, completion_tokens: 4000 }, calls: 1 });
    const stream = await fetch(`${gateway.baseUrl}/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${damaged.secret}`,
        "content-type": "application/json",
        "idempotency-key": "damaged-columns-running",
      },
      body: JSON.stringify({ ...hello("damaged-1"), max_tokens: 5000, stream: true }),
      signal: running.signal,
    });
    const runs = stream.headers.get("x-request-id") ?? "";
    void (async () => {
      try {
        for await (const _ of stream.body ?? []);
      } catch {
        // It ends with the test.
      }
    })();
    await waitFor(
      async () =>
        (await disk.rows("ledger", `SELECT 1 AS one FROM stream_chunk WHERE request_id = '${runs}'`)).length >
        0,
      "a kept part",
    );
    const no = store === "sqlite" ? "0" : "FALSE";
    await fillEveryTable(disk, { org, person: personId, running: runs, no });
    const ofRequest = `request_id = '${paid[0]?.request}'`;
    const ofPerson = `"userId" = '${personId}'`;
    rows = {
      ...Object.fromEntries(
        Object.entries<Columns>(TABLES).flatMap(([table, { text = "", textOrNull = "" }]) =>
          [...text.split(" "), ...textOrNull.split(" ")].includes("org_id")
            ? [[table, `org_id = '${org}'`]]
            : [],
        ),
      ),
      claim: ofRequest,
      result: ofRequest,
      api_key: `key_id = '${damaged.keyId}'`,
      entitlement: `id = '${entitlement}'`,
      route_release: "route LIKE '%damaged-1%'",
      route_state: "route LIKE '%damaged-1%'",
      management_key: "name = 'damaged'",
      journal: `org_id = '${org}' AND details IS NOT NULL`,
      audit_log: `org_id = '${org}' AND value_after IS NOT NULL`,
      user: `id = '${personId}'`,
      session: ofPerson,
      account: ofPerson,
      twoFactor: ofPerson,
      passkey: ofPerson,
      membership: `"personId" = '${personId}'`,
      usageView: `"personId" = '${personId}'`,
    };
  }, 60_000);

  afterAll(async () => {
    running.abort();
    await disk?.close();
    await gateway?.stop();
  });

  /** Everything readable, by everyone who may read it; for this request if one is given. */
  function walk({ request }: Paid, by: readonly Asker[]): Asked[] {
    const { organizationId: org, keyId: key, secret } = damaged;
    const values: Record<string, string> = { org, request, id: request, key, order: "ord_1" };
    const filled = (target: string): string =>
      pathOf(target as never).replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "x");
    const get = (path: string, headers: Record<string, string>) => () =>
      fetch(gateway.url + path, { headers });
    const asked = TARGETS.filter(
      ({ target }) => methodOf(target) === "GET" && !target.endsWith("/tail"),
    ).flatMap(({ target, endpoint }): Asked[] => {
      const query = "org" in endpoint.input.shape && !pathFields(target).includes("org");
      const path = filled(target);
      if (pathOf(target).startsWith("/admin/v1/"))
        return [
          {
            target,
            ask: get(query ? `${path}?org=${org}` : path, {
              authorization: `Bearer ${gateway.token}`,
            }),
          },
        ];
      const askers = pathFields(target)[0] === "org" ? by : (["operator"] as const);
      const cookies = { operator: root.cookie, owner: owner.cookie };
      return askers.map((asker) => ({ target, ask: get(path, { cookie: cookies[asker] }) }));
    });
    const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
    for (const path of ["models", "key", "credits", `generation?id=${request}`, `receipts/${request}`])
      asked.push({ target: `GET /v1/${path}`, ask: get(`/v1/${path}`, bearer(secret)) });
    for (const path of ["models", "key", "credits"])
      asked.push({ target: `GET /v1/${path} of another`, ask: get(`/v1/${path}`, bearer(healthy.secret)) });
    asked.push({ target: "GET /metrics", ask: get("/metrics", {}) });
    asked.push({
      target: "POST /v1/chat/completions of another",
      ask: () =>
        fetch(`${gateway.baseUrl}/chat/completions`, {
          method: "POST",
          headers: { ...bearer(healthy.secret), "content-type": "application/json" },
          body: JSON.stringify(hello()),
        }),
    });
    return asked;
  }

  /** What in the walk was not answered as expected: the whole walk once, and the calls for each of these requests. */
  async function failures(
    touched: readonly Paid[],
    { retries, by = EITHER }: { retries: boolean; by?: readonly Asker[] },
  ): Promise<string[]> {
    const found: string[] = [];
    if (retries) for (const one of touched) found.push(...(await failuresOfRetry(one)));
    const asked = touched.flatMap((one, nth) =>
      nth === 0 ? walk(one, by) : walk(one, by).filter(({ target }) => OF_ONE_REQUEST.test(target)),
    );
    const left = asked.values();
    const visit = async (): Promise<void> => {
      for (const { target, ask } of left) found.push(...(await failuresOf(target, await ask())));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, visit));
    return found;
  }

  async function failuresOf(target: string, answer: Response): Promise<string[]> {
    const text = await answer.text().catch((error: unknown) => `cut: ${String(error)}`);
    const ofAnother = target.endsWith("of another");
    const isRead = !text.startsWith("cut: ") && (!isJson(answer) || parses(text));
    if (isRead && (ofAnother ? answer.ok : answer.status < 500)) return [];
    const isNamed = text.includes(NAMED);
    if (!ofAnother && OF_ONE_RECORD.test(target) && isNamed) return [];
    return [`${target}: ${answer.status} ${text.slice(0, 300)}`];
  }

  /** A retry is answered from storage, or refused: it never runs a second time. */
  async function failuresOfRetry({ retry }: Paid): Promise<string[]> {
    const billed = () => gateway.simulator.bill().filter(({ model }) => model === OWN.upstream_model).length;
    const before = billed();
    const { status, headers, text } = await gateway.chat(damaged, hello("damaged-1"), retry);
    const isReplayed = status === 200 && headers.get("idempotent-replayed") === "true" && parses(text);
    const isRefused = status >= 400 && (status < 500 || text.includes(NAMED));
    return billed() === before && (isReplayed || isRefused)
      ? []
      : [`retry: ${status}, ${billed() - before} calls, ${text.slice(0, 300)}`];
  }

  async function columnsOf(place: Damage["place"]): Promise<Damage[]> {
    const all: Damage[] = [];
    for (const table of await disk.tables(place)) {
      if (OF_THE_PROGRAM.includes(table)) continue;
      for (const [nth, { name: column }] of (await disk.columns(place, table)).entries()) {
        const where = rowOf(table, nth);
        all.push({ place, table, column, where, isMoney: isMoney(table, column), nth });
      }
    }
    return all;
  }

  const rowOf = (table: string, nth: number): string =>
    table === "request" ? `request_id = '${paid[nth % ROWS]?.request}'` : (rows[table] ?? "1 = 1");

  const touchedBy = ({ table, nth }: Damage): number => (table === "request" ? nth % ROWS : 0);

  /** The failures of the walk during this damage, and the places that the store accepted it in. */
  async function whileDamaged(
    columns: readonly Damage[],
  ): Promise<{ found: string[]; taken: Damage["place"][] }> {
    const mends: (() => Promise<void>)[] = [];
    const taken: Damage["place"][] = [];
    for (const column of columns) {
      const mend = await damage(disk, column);
      if (mend === null) continue;
      mends.push(mend);
      taken.push(column.place);
    }
    const retries = !columns.some(({ table, nth }) => table === "claim" && nth < 3);
    const touched = new Set(columns.map(touchedBy));
    const found =
      mends.length === 0
        ? []
        : await failures(
            paid.filter((_, nth) => touched.has(nth)),
            { retries, by: askersOf(columns) },
          );
    for (const mend of mends.toReversed()) await mend();
    return { found, taken };
  }

  /**
   * Damages one column of a row at a time, in many tables at once; repeats a failed round one by one, to find the
   * culprit.
   */
  async function every(): Promise<{ taken: Record<Damage["place"], number>; found: string[] }> {
    const columns = [...(await columnsOf("ledger")), ...(await columnsOf("people"))];
    const rounds = Map.groupBy(columns, roundOf);
    const all: string[] = [];
    const taken = { ledger: 0, people: 0 };
    for (const round of rounds.values()) {
      const together = await whileDamaged(round);
      for (const place of together.taken) taken[place] += 1;
      if (together.found.length === 0) continue;
      const before = all.length;
      for (const one of round.length > 1 ? round : []) {
        const { found } = await whileDamaged([one]);
        all.push(...found.map((failure) => `${one.table}.${one.column}: ${failure}`));
      }
      if (all.length === before)
        all.push(...together.found.map((failure) => `${round.map(nameOf).join(" ")}: ${failure}`));
    }
    return { taken, found: all };
  }

  test("nothing is refused while nothing is damaged", async () => {
    expect(await failures(paid, { retries: true })).toEqual([]);
  });

  test("a column of the store of the ledger, or of that of the people", async () => {
    const violations = async () => (await gateway.ledger.verify()).violations;
    const before = await violations();
    const { taken, found } = await every();
    expect(found).toEqual([]);
    expect(taken.ledger).toBeGreaterThan(280);
    expect(taken.people).toBeGreaterThan(80);
    // As the upkeep does regularly: counts made while a request was damaged do not include it.
    await mendRunning(gateway.ledger);
    expect(await violations()).toEqual(before); // everything is restored, and none of the walks left anything
  }, 900_000);
});

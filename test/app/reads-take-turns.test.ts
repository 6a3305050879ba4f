// What one organization reads does not keep another waiting: at the store's readers organizations take turns, whoever
// has gone leaves, and there is a bound (docs/decisions/0093-reads-take-turns.md).
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import pg from "pg";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { openSocket } from "../support/raw.ts";
import { type ReadingThread, watchReadingThread } from "../support/reading-thread.ts";
import { scrape } from "../support/scrape.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(120_000);

/** An organization with people. */
interface Party {
  org: string;
  people: Browser[];
}

let thread: ReadingThread;
let gateway: TestGateway;
let root: Browser;
let many: Party;
let one: Party;

async function party(
  on: TestGateway,
  by: Browser,
  { name, size }: { name: string; size: number },
): Promise<Party> {
  const { organizationId: org } = await on.customer();
  const people: Browser[] = [];
  for (let n = 0; n < size; n += 1)
    people.push(await newMember(by, on, { org, role: "owner", email: `${name}${n}@example.com` }));
  return { org, people };
}

const person = ({ people }: Party, n = 0): Browser => people[n % people.length] as Browser;
const overview = (of: Party, n = 0) => person(of, n).app("GET /orgs/{org}/overview", { org: of.org });
const path = ({ org }: Party): string => `/app/v1/orgs/${org}/activity?model=nothing`;
const cookie = (of: Party, n = 0): { cookie: string } => ({ cookie: person(of, n).cookie });

beforeAll(async () => {
  thread = watchReadingThread();
  gateway = await startGateway({ store: "sqlite" });
  root = await firstOperator(gateway);
  many = await party(gateway, root, { name: "many", size: 4 });
  one = await party(gateway, root, { name: "one", size: 1 });
  await Promise.all([overview(many), overview(one)]); // everything is loaded
});
afterAll(async () => {
  thread.stop();
  await gateway.stop();
});

/** Statements from now on, as the organization that they are about. */
function order(): () => string[] {
  const from = thread.asked.length;
  return () =>
    thread.asked
      .slice(from)
      .flatMap(({ values }) => [many, one].filter(({ org }) => values.includes(org)).map(({ org }) => org));
}

/** At most one turn of another party comes between two of one's own, of which one in two names no organization. */
function expectTurns(asked: readonly string[]): void {
  const begin = asked.indexOf(one.org);
  const between = asked.slice(begin, asked.lastIndexOf(one.org) + 1);
  const own = between.filter((org) => org === one.org).length;
  expect(own).toBeGreaterThan(4);
  expect(between.length - own).toBeLessThanOrEqual(3 * own);
}

test("SQLite: thirty dear questions of one organization let each statement of another pass after one of theirs", async () => {
  const asked = order();
  thread.hold();
  let ended = 0;
  const reads = Array.from({ length: 30 }, (_, n) => overview(many, n).then(() => (ended += 1)));
  await waitFor(async () => asked().length > 0, "a first statement");
  const page = overview(one);
  thread.goOn();
  await page;
  expect(ended).toBeLessThan(30);
  await Promise.all(reads);
  expectTurns(asked());
});

test("an operator's script takes turns with organizations", async () => {
  const from = thread.asked.length;
  const reads = Array.from({ length: 30 }, () =>
    gateway.admin("GET", `/requests?org=${many.org}&model=nothing`).then(({ status }) => status),
  );
  const asked = order();
  await overview(one);
  expect(new Set(await Promise.all(reads))).toEqual(new Set([200]));
  expect(thread.asked.length).toBeGreaterThan(from + 30); // and none of them reads on the thread of requests
  expectTurns(asked());
});

test("the reads of a client that has gone leave the queue", async () => {
  const gone = async (): Promise<number> =>
    (await scrape(gateway.url)).samples
      .filter(({ labels }) => labels["status"] === "499")
      .reduce((sum, { value }) => sum + value, 0);
  const before = await gone();
  const asked = order();
  thread.hold();
  const client = new AbortController();
  const { signal } = client;
  const reads = Array.from({ length: 24 }, (_, n) =>
    fetch(gateway.url + path(many), { headers: cookie(many, n), signal }).catch(() => null),
  );
  await waitFor(async () => asked().length > 0, "a first statement");
  client.abort();
  await Promise.all(reads);
  // All but the one whose statement is with the thread.
  await waitFor(async () => (await gone()) - before >= 23, "the others to leave");
  thread.goOn();
  await overview(one);
  expect(asked().filter((org) => org === many.org)).toHaveLength(1);
});

const PER_PARTY = 256;

test("beyond the bound an organization's reads are refused, and nobody else's", async () => {
  const asked = order();
  thread.hold();
  const waiting = Array.from({ length: PER_PARTY }, (_, n) => {
    const socket = openSocket(gateway.url);
    socket.write(
      `GET ${path(many)} HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie(many, n).cookie}\r\n\r\n`,
    );
    return socket;
  });
  const read = async () => {
    const response = await fetch(gateway.url + path(many), { headers: cookie(many) });
    return { response, body: (await response.json()) as { error?: { code: string } } };
  };
  await waitFor(async () => asked().length > 0, "a first statement");
  // The first ones may arrive before the last sockets did, and wait like them.
  const tries: ReturnType<typeof read>[] = [];
  let refused: Awaited<ReturnType<typeof read>> | null = null;
  await waitFor(async () => {
    tries.push(read().then((answer) => (refused ??= answer)));
    await Bun.sleep(20);
    return refused !== null;
  }, "a refusal");
  const { response, body } = refused as unknown as Awaited<ReturnType<typeof read>>;
  expect([response.status, body.error?.code]).toEqual([429, "rate_limit_exceeded"]);
  expect(response.headers.get("retry-after")).toBe("1");
  const page = overview(one);
  thread.goOn();
  await page;
  for (const socket of waiting) socket.destroy();
  await Promise.all(tries);
});

test("PostgreSQL: one organization never has all connections of the pages", async () => {
  let connectionString = "";
  const shared = await startGateway({
    store: "postgres",
    configure: ({ databaseUrl }) => (connectionString = databaseUrl ?? ""),
  });
  const [admin, looking] = [new pg.Client({ connectionString }), new pg.Client({ connectionString })];
  await Promise.all([admin.connect(), looking.connect()]);
  try {
    const operator = await firstOperator(shared);
    const [a, b] = [
      await party(shared, operator, { name: "a", size: 2 }),
      await party(shared, operator, { name: "b", size: 1 }),
    ];
    const usage = (of: Party) => person(of).app("GET /orgs/{org}/usage", { org: of.org });
    await Promise.all([usage(a), usage(b)]);
    const blocked = async (): Promise<number> => {
      const { rows } = await looking.query<{ n: string }>(
        "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'tollgate pages' AND wait_event_type = 'Lock'",
      );
      return Number(rows[0]?.n);
    };
    await admin.query("BEGIN");
    await admin.query("LOCK TABLE request IN ACCESS EXCLUSIVE MODE");
    const reads = Array.from({ length: 16 }, (_, n) =>
      person(a, n).try("GET /orgs/{org}/activity", { org: a.org }),
    );
    let most = 0;
    await waitFor(async () => (most = Math.max(most, await blocked())) >= 3, "three of them to be blocked");
    expect((await usage(b)).org).toBe(b.org);
    for (let looks = 0; looks < 5; looks += 1) most = Math.max(most, await blocked());
    expect(most).toBe(3);
    await admin.query("COMMIT");
    await Promise.all(reads);
  } finally {
    await Promise.all([admin.end(), looking.end()]);
    await shared.stop();
  }
});

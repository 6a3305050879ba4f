// Over 20,000 requests of one organization no statement of its pages reads more than a piece of them, and their answers
// are those of one walk over all of them (docs/decisions/0098-reads-in-pieces.md).
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { AppAnswer } from "../../src/api/client.ts";
import { type Browser, firstOperator } from "../support/browser.ts";
import { type Customer, startGateway, STORES, type Store, type TestGateway } from "../support/gateway.ts";
import type { ReadingThread } from "../support/reading-thread.ts";
import { waitFor } from "../support/wait.ts";
import { watchReads } from "../support/watched-reads.ts";

setDefaultTimeout(120_000);

const ROWS = 20_000;
const PIECE = 2_500;
const EXAMINED = 5_000;
/** Rows of the request log. */
const LOGGED = 6_000;
/** Ten days of them, the last one two minutes ago. */
const STEP_MS = 40_000;

describe.each(STORES)("%s", (store) => {
  let gateway: TestGateway;
  let reads: ReadingThread;
  let root: Browser;
  let customer: Customer;
  let org: string;
  let rows: Rows;

  beforeAll(async () => {
    reads = watchReads(store);
    gateway = await startGateway({ store });
    root = await firstOperator(gateway);
    customer = await gateway.customer();
    org = customer.organizationId;
    rows = rowsOf(store, customer);
    await gateway.tamper(rows.insert);
  });
  afterAll(async () => {
    reads.stop();
    await gateway.stop();
  });

  const activity = (query: string) => root.app("GET /orgs/{org}/activity", { org }, undefined, `?${query}`);
  const histogram = () => root.app("GET /orgs/{org}/activity/histogram", { org }, undefined, "?range=30d");
  const overview = () => root.app("GET /orgs/{org}/overview", { org }, undefined, "?range=30d");
  const byProvider = (more = "") =>
    root.app("GET /orgs/{org}/usage", { org }, undefined, `?range=30d&group_by=provider${more}`);

  type Page = AppAnswer<"GET /orgs/{org}/activity">;
  async function pagesOf(query: string): Promise<Page[]> {
    const pages: Page[] = [];
    for (let cursor: string | null = ""; cursor !== null; cursor = pages.at(-1)?.next_cursor ?? null)
      pages.push(await activity(`${query}${cursor === "" ? "" : `&cursor=${cursor}`}`));
    return pages;
  }
  /** The statements that this read sends about rows of this organization in the table. */
  async function statementsOf(read: () => Promise<unknown>, table = "request"): Promise<number> {
    const from = reads.asked.length;
    await read();
    return reads.asked
      .slice(from)
      .filter(({ text, values }) => text.includes(`from "${table}"`) && values.includes(org)).length;
  }

  test("a filter that matches nothing is given up after 5,000 requests, and its cursor goes on to the end", async () => {
    const pages = await pagesOf("model=nothing");
    expect(pages.map(({ data }) => data.length)).toEqual([0, 0, 0, 0]);
    const reached = [1, 2, 3].map((page) => rows.at(ROWS - page * EXAMINED + 1));
    expect(pages.map((page) => page.searched_to)).toEqual([...reached, null]);
    expect(pages.at(-1)?.next_cursor).toBeNull();
    const [scripts] = [await gateway.admin<Page>("GET", `/requests?org=${org}&model=nothing`)];
    expect([scripts.json.data, scripts.json.searched_to]).toEqual([[], reached[0] ?? null]);
  });

  test("what a later page finds is found once, behind pages that found nothing, and in the CSV", async () => {
    const rare = rows.id(ROWS - 2 * EXAMINED - 8);
    await gateway.tamper("UPDATE request SET model = 'rare' WHERE request_id = ?1", rare);
    const pages = await pagesOf("model=rare");
    expect(pages.map(({ data }) => data.map(({ id }) => id))).toEqual([[], [], [rare], []]);
    const csv = await root.send("GET", `/app/v1/orgs/${org}/activity.csv?model=rare`);
    expect(csv.text.split("\r\n").filter((line) => line.includes(rare))).toHaveLength(1);
    await gateway.tamper("UPDATE request SET model = 'base-preview-v1' WHERE request_id = ?1", rare);
  });

  test("a filter that finds enough fills its page, wherever the page's search would end", async () => {
    const pages = await pagesOf("state=released&limit=200");
    const ids = pages.flatMap(({ data }) => data.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(rows.all((n) => n % 50 === 0).toReversed());
    expect(pages[0]).toMatchObject({ searched_to: rows.at(ROWS - EXAMINED + 1) }); // 100 of 5,000
  });

  test("a damaged id where a page ends is no cursor, and stops nobody", async () => {
    const last = rows.id(ROWS - EXAMINED + 1);
    const damaged = `${last.slice(0, -1)}X`;
    await gateway.tamper("UPDATE request SET request_id = ?1 WHERE request_id = ?2", damaged, last);
    const pages = await pagesOf("model=nothing");
    expect(pages).toHaveLength(5); // the last one is empty: one row more was left than fits
    expect(pages[0]).toMatchObject({ next_cursor: rows.id(ROWS - EXAMINED + 2) });
    await gateway.tamper("UPDATE request SET request_id = ?1 WHERE request_id = ?2", last, damaged);
  });

  test("the chart, usage by provider and the overview are read in pieces, and are exact", async () => {
    const pieces = 1 + ROWS / PIECE; // first the newest id, where they end
    const counts = await histogram();
    expect(counts.states.map(({ state, counts: of }) => [state, sum(of)])).toContainValues([
      ["settled", rows.count((n) => n % 50 !== 0)],
      ["released", rows.count((n) => n % 50 === 0)],
    ]);
    const usage = await byProvider();
    expect(usage.total).toMatchObject({
      requests: rows.count((n) => n % 50 !== 0),
      charge_usd: dollars(rows.charged((n) => n % 50 !== 0)),
    });
    const one = await byProvider(`&key=${customer.keyId}&model=base-preview-v2`);
    expect(one.total.charge_usd).toBe(dollars(rows.charged((n) => n % 50 !== 0 && n % 3 === 0)));
    const seen = await overview();
    const times = rows.all((n) => n % 50 !== 0).length;
    expect(seen).toMatchObject({
      requests: ROWS,
      error_rate: rows.count((n) => n % 50 === 0) / ROWS,
      first_part_ms: {
        p50: rows.firstParts[Math.floor(times * 0.5)],
        p95: rows.firstParts[Math.floor(times * 0.95)],
      },
    });
    expect(await statementsOf(histogram)).toBe(pieces);
    expect(await statementsOf(byProvider)).toBe(pieces);
    expect(await statementsOf(overview)).toBe(pieces);
  });

  test("refusals by cause, those of a key over time and savings by replays are read in pieces, and are exact", async () => {
    await gateway.tamper(rows.log);
    const pieces = 1 + Math.ceil(LOGGED / PIECE);
    const refused = (n: number) => n % 3 !== 0;
    const of = (code: string, counts = (n: number) => refused(n) && rows.code(n) === code) =>
      rows.times(counts);
    const causes = (list: readonly { code: string; requests: number }[]) =>
      list.map(({ code, requests }) => [code, requests]);
    const byCause = [
      ["rate_limit_exceeded", of("rate_limit_exceeded")],
      ["model_not_found", of("model_not_found")],
    ];
    const seen = await overview();
    expect([seen.refused, causes(seen.refusals)]).toEqual([rows.times(refused), byCause]);
    const key = customer.keyId;
    const ofKey = () =>
      root.app("GET /orgs/{org}/keys/{key}/refusals", { org, key }, undefined, "?range=30d");
    const { codes, refusals } = await ofKey();
    expect([causes(refusals), codes.map(({ code, counts }) => [code, sum(counts)])]).toEqual([
      byCause,
      byCause,
    ]);
    const savings = () => root.app("GET /orgs/{org}/usage/savings", { org }, undefined, "?range=30d");
    expect(await savings()).toMatchObject({
      replays: rows.times((n) => n % 3 === 0),
      replayed_usd: dollars(rows.repaid),
    });
    expect(sum((await histogram()).states.find(({ state }) => state === "refused")?.counts ?? [])).toBe(
      rows.times(refused),
    );
    expect(await statementsOf(overview, "journal")).toBe(pieces);
    expect(await statementsOf(ofKey, "journal")).toBe(2 * pieces);
    expect(await statementsOf(savings, "journal")).toBe(pieces);
    expect(await statementsOf(histogram, "journal")).toBe(pieces);
    await gateway.tamper("DELETE FROM journal WHERE org_id = ?1", org);
  });

  test("files take a few statements for each 200 rows, and have every row once", async () => {
    const entries = 2_000;
    const [from, all] = [reads.asked.length, () => reads.asked.length];
    await gateway.tamper(rows.entries(entries));
    const ledger = await root.send("GET", `/app/v1/orgs/${org}/billing/ledger.csv?range=30d&kind=charge`);
    expect(linesOf(ledger.text)).toBe(entries);
    expect(all() - from).toBeLessThan((2 * entries) / 200 + 40);
    const before = all();
    const requests = await root.send("GET", `/app/v1/operator/requests.csv?range=30d`);
    const ids = requests.text.match(/req_[0-9a-f]{32}/g) ?? [];
    expect([ids.length, new Set(ids).size]).toEqual([ROWS, ROWS]);
    expect(all() - before).toBeLessThan((10 * ROWS) / 200 + 40);
  });

  test("a damaged row in the middle of a piece, and one at its end, leave the sums of all others exact", async () => {
    const [middle, end] = [PIECE + 1_001, 2 * PIECE + 1];
    const huge = 2n ** 63n - 1n;
    const damaged = `${rows.id(end).slice(0, -1)}X`;
    await gateway.tamper(
      `UPDATE request SET hold = ${huge}, charge = ${huge}, first_part_ms = -${huge} WHERE request_id = ?1`,
      rows.id(middle),
    );
    await gateway.tamper("UPDATE request SET request_id = ?1 WHERE request_id = ?2", damaged, rows.id(end));
    const settled = rows.charged((n) => n % 50 !== 0 && n !== middle) + huge;
    expect((await byProvider()).total).toMatchObject({
      requests: rows.count((n) => n % 50 !== 0),
      charge_usd: dollars(settled),
    });
    expect(sum((await histogram()).states.flatMap(({ counts }) => counts))).toBe(ROWS);
    expect((await overview()).requests).toBe(ROWS);
    await gateway.tamper("UPDATE request SET request_id = ?1 WHERE request_id = ?2", rows.id(end), damaged);
    await gateway.tamper(
      `UPDATE request SET charge = ${rows.charge(middle)}, hold = 5000000, first_part_ms = ${rows.firstPart(middle)} WHERE request_id = ?1`,
      rows.id(middle),
    );
  });

  test("what ends or arrives between two pieces is counted once, as it was when its piece was read", async () => {
    const [early, late] = [rows.id(11), rows.id(ROWS - 11)];
    const running =
      "UPDATE request SET state = 'dispatched', closed_txn = NULL, hold = 0, charge = 0 WHERE request_id = ?1";
    const ended = (n: number): string =>
      `UPDATE request SET state = 'settled', closed_txn = 1, hold = 5000000, charge = ${rows.charge(n)} WHERE request_id = ?1`;
    for (const id of [early, late]) await gateway.tamper(running, id);
    await gateway.tamper(rows.one(ROWS + 1)); // alone in the last piece: one that arrives would have room in it
    const from = reads.asked.length;
    const walked = (): number => reads.asked.slice(from).filter(({ text }) => /"walked"/.test(text)).length;
    reads.hold();
    const reading = histogram();
    for (let statements = 1; walked() < 3; statements += 1) {
      await waitFor(async () => reads.asked.length >= from + statements, "the next statement");
      if (walked() >= 3) break;
      reads.goOn();
      reads.hold();
    }
    // Two pieces are read, and the third is about to be.
    await gateway.tamper(ended(11), early);
    await gateway.tamper(ended(ROWS - 11), late);
    await gateway.tamper(rows.one(ROWS + 2));
    reads.goOn();
    const { states } = await reading;
    const of = (name: string) => sum(states.find(({ state }) => state === name)?.counts ?? []);
    expect([of("running"), of("settled"), of("released")]).toEqual([
      1,
      rows.count((n) => n % 50 !== 0), // without the early one, with the one in the last piece
      rows.count((n) => n % 50 === 0),
    ]);
    expect(sum((await histogram()).states.flatMap(({ counts }) => counts))).toBe(ROWS + 2);
  });
});

const sum = (counts: readonly number[]): number => counts.reduce((total, one) => total + one, 0);
const dollars = (nano: bigint): string => `${nano / 10n ** 9n}.${String(nano % 10n ** 9n).padStart(9, "0")}`;

const linesOf = (csv: string): number => csv.trim().split("\r\n").length - 1;

type Rows = ReturnType<typeof rowsOf>;

/** Requests 1 to ROWS, the oldest first; every fiftieth was released with a 502. */
function rowsOf(store: Store, { organizationId, keyId }: Customer) {
  const firstMs = Date.now() - ROWS * STEP_MS - 120_000;
  const isLite = store === "sqlite";
  const hex = (n: string, digits: number): string =>
    isLite ? `printf('%0${digits}x', ${n})` : `lpad(to_hex((${n})::bigint), ${digits}, '0')`;
  const at = `(${firstMs} + i * ${STEP_MS})`;
  const no = isLite ? "0" : "false";
  const insert = (first: number, last: number): string => {
    const many = `WITH RECURSIVE n(i) AS (SELECT CAST(${first} AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < ${last})`;
    return `${isLite ? "" : many} INSERT INTO request (org_id, request_id, key_id, model, tier, stream, state, epoch, admitted_at,
        deadline_at, month, release_digest, hold, charge, prompt_bound, output_bound, opened_txn, closed_txn, prompt_tokens,
        completion_tokens, cached_tokens, status, finish_reason, first_part_ms)
      ${isLite ? many : ""} SELECT '${organizationId}', 'req_' || ${hex(at, 12)} || '7' || ${hex("i", 19)}, '${keyId}',
        CASE WHEN i % 3 = 0 THEN 'base-preview-v2' ELSE 'base-preview-v1' END, 'standard', ${no},
        CASE WHEN i % 50 = 0 THEN 'released' ELSE 'settled' END, 1, ${at}, ${at}, '2026-11', 'none', 5000000,
        CASE WHEN i % 50 = 0 THEN 0 ELSE 3000000 + i END, 1, 1, i, i, 1, 1, 0,
        CASE WHEN i % 50 = 0 THEN 502 ELSE 200 END, CASE WHEN i % 50 = 0 THEN NULL ELSE 'stop' END,
        CASE WHEN i % 50 = 0 THEN NULL ELSE i * 7919 % 10007 END FROM n`;
  };
  const bytes = isLite ? "zeroblob(32)" : "decode(repeat('00', 32), 'hex')";
  const entries = (count: number): string => {
    const many = `WITH RECURSIVE n(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
    return `${isLite ? "" : many} INSERT INTO ledger_entry (org_id, slot, version, txn, kind, debit, credit, amount, available_before,
        available_after, held_before, held_after, requests, at, prev_hash, hash)
      ${isLite ? many : ""} SELECT '${organizationId}', 0, 1000 + i, i, 'charge', 'a', 'b', 1, 0, 0, 0, 0, 1, ${at}, ${bytes}, ${bytes} FROM n`;
  };
  // Two of three were refused; every second replay does not say of what.
  const many = `WITH RECURSIVE n(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < ${LOGGED})`;
  const log = `${isLite ? "" : many} INSERT INTO journal (org_id, request_id, key_id, kind, at, status, code, model, stream, requests, replay_of)
    ${isLite ? many : ""} SELECT '${organizationId}', 'req_' || ${hex(at, 12)} || '8' || ${hex("i", 19)}, '${keyId}',
      CASE WHEN i % 3 = 0 THEN 'replay' ELSE 'refused' END, ${at}, 400,
      CASE WHEN i % 3 = 0 THEN NULL WHEN i % 7 = 0 THEN 'model_not_found' ELSE 'rate_limit_exceeded' END, NULL, 0, 1 + i % 5,
      CASE WHEN i % 6 = 0 THEN 'req_' || ${hex(at, 12)} || '7' || ${hex("i", 19)} END FROM n`;
  const ms = (n: number): number => firstMs + n * STEP_MS;
  const hexOf = (n: number, digits: number): string => n.toString(16).padStart(digits, "0");
  const id = (n: number): string => `req_${hexOf(ms(n), 12)}7${hexOf(n, 19)}`;
  const numbers = Array.from({ length: ROWS }, (_, n) => n + 1);
  const logged = numbers.slice(0, LOGGED);
  const charge = (n: number): bigint => BigInt(3_000_000 + n);
  const firstPart = (n: number): number => (n * 7919) % 10_007;
  return {
    insert: insert(1, ROWS),
    entries,
    log,
    code: (n: number): string => (n % 7 === 0 ? "model_not_found" : "rate_limit_exceeded"),
    /** How many calls these rows of the request log stand for. */
    times: (of: (n: number) => boolean): number => sum(logged.filter(of).map((n) => 1 + (n % 5))),
    repaid: logged
      .filter((n) => n % 6 === 0 && n % 50 !== 0)
      .reduce((total, n) => total + charge(n) * BigInt(1 + (n % 5)), 0n),
    one: (n: number) => insert(n, n),
    at: (n: number): string => new Date(ms(n)).toISOString(),
    id,
    charge,
    firstPart,
    all: (of: (n: number) => boolean): string[] => numbers.filter(of).map(id),
    count: (of: (n: number) => boolean): number => numbers.filter(of).length,
    charged: (of: (n: number) => boolean): bigint =>
      numbers.filter(of).reduce((total, n) => total + charge(n), 0n),
    firstParts: numbers
      .filter((n) => n % 50 !== 0)
      .map(firstPart)
      .toSorted((a, b) => a - b),
  };
}

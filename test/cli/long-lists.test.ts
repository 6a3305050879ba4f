// Lists of several pages on the command line: it fetches them all and prints one document, or one page where one is
// asked for; and it prints what a gateway has that knows no pages (docs/decisions/0094-lists-that-came-whole.md).
import { afterAll, expect, test } from "bun:test";
import { type Ran, runToEnd, PROGRAM } from "../support/program.ts";

const ORGANIZATIONS = ["Acme", "Basalt", "Cobalt", "Dolomite", "Eocene"].map((name, nth) => ({
  id: `org_${nth}`,
  name,
  created_at: "2026-11-01T00:00:00.000Z",
}));
const KEYS = ["one", "two", "three"].map((name, nth) => ({
  id: `key_${nth}`,
  name,
  scope: "standard",
  status: "active",
  blocked_by_limit: false,
  prefix: "gw_sk_",
  limit_usd: null,
  spent_usd: "0.000000000",
  held_usd: "0.000000000",
}));
const USAGE = ["m1", "m2", "m3"].map((group) => ({
  group,
  requests: 1,
  input_tokens: 1,
  cached_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 1,
  charge_usd: "0.000100000",
}));
const ROWS: Record<string, object[]> = {
  organizations: ORGANIZATIONS,
  keys: KEYS,
  usage: USAGE,
  people: [],
  entitlements: [],
  releases: [],
  routes: [],
  "ledger/stopped": [],
};

const refusal = (code: string, param: string): Response =>
  Response.json(
    { error: { message: "No.", type: "invalid_request_error", code, param, request_id: "req_1" } },
    { status: 400 },
  );

/** The queries of each list, as the gateway got them. */
const asked: string[] = [];
/** Two rows a page. */
const paged = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ url }) => {
    const { pathname, searchParams } = new URL(url);
    const list = pathname.replace("/admin/v1/", "");
    asked.push(`${list} ${searchParams.toString()}`);
    const from = Number(searchParams.get("cursor") ?? 0);
    const to = from + Number(searchParams.get("limit") ?? 2);
    const rows = ROWS[list] ?? [];
    return Response.json({
      group_by: searchParams.get("group_by"),
      from: null,
      to: null,
      data: rows.slice(from, to),
      next_cursor: to < rows.length ? String(to) : null,
    });
  },
});
/** As before there were pages: no list takes a parameter of theirs. */
const older = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ url }) => {
    const { pathname, searchParams } = new URL(url);
    const unknown = [...searchParams.keys()].find((name) => !["org", "group_by"].includes(name));
    if (unknown !== undefined) return refusal("unknown_parameter", unknown);
    const data = ROWS[pathname.replace("/admin/v1/", "")] ?? [];
    return Response.json({ group_by: null, from: null, to: null, data, next_cursor: null });
  },
});
afterAll(() => Promise.all([paged.stop(true), older.stop(true)]));

const run = (at: typeof paged, ...words: string[]): Promise<Ran> =>
  runToEnd(PROGRAM, [...words, "--url", at.url.origin, "--token", "gw_mk_1"]);
const LISTS = [
  ["org", "list"],
  ["people", "list"],
  ["keys", "list", "--org", "org_1"],
  ["entitlement", "list"],
  ["release", "list"],
  ["route", "list"],
  ["ledger", "stopped"],
  ["usage", "--org", "org_1", "--group-by", "model"],
];

test("every row of every page is printed, as one document and as one table, and no length is asked for", async () => {
  const json = await run(paged, "org", "list", "--json");
  expect([json.code, JSON.parse(json.out)]).toEqual([
    0,
    expect.objectContaining({ data: ORGANIZATIONS, next_cursor: null }),
  ]);
  const { code, out, err } = await run(paged, "org", "list");
  expect([code, err]).toEqual([0, ""]);
  for (const { name } of ORGANIZATIONS) expect(out).toContain(name);
  const keys = await run(paged, "keys", "list", "--org", "org_1", "--json");
  expect(JSON.parse(keys.out).data).toEqual(KEYS);
  const usage = await run(paged, "usage", "--org", "org_1", "--group-by", "model", "--json");
  expect(JSON.parse(usage.out)).toMatchObject({ group_by: "model", data: USAGE, next_cursor: null });
  expect(asked.filter((query) => query.includes("limit"))).toEqual([]);
});

test("an organization on the last page is found by its name", async () => {
  const { code, out } = await run(paged, "keys", "list", "--org", "Eocene", "--json");
  expect([code, JSON.parse(out).data]).toEqual([0, KEYS]);
  expect(asked).toContain("keys org=org_4");
});

test("with --limit or --cursor one page is printed, and how to get the next", async () => {
  const first = await run(paged, "org", "list", "--limit", "3", "--json");
  expect(JSON.parse(first.out)).toMatchObject({ data: ORGANIZATIONS.slice(0, 3), next_cursor: "3" });
  expect(first.err).toContain("--cursor 3");
  const last = await run(paged, "org", "list", "--cursor", "3", "--json");
  expect([JSON.parse(last.out).data, last.err]).toEqual([ORGANIZATIONS.slice(3), ""]);
});

test("a gateway that knows no pages is asked nothing that it refuses", async () => {
  for (const words of LISTS) {
    const { code, out } = await run(older, ...words, "--json");
    expect([words, code, JSON.parse(out).next_cursor]).toEqual([words, 0, null]);
  }
  const searched = await run(older, "org", "list", "--search", "acme");
  expect([searched.code, searched.out]).toEqual([1, ""]);
  expect(searched.err).toContain("another version than this command line");
});

// Lists larger than a page: people after the ten-thousandth are found, counted and listed like all others.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

const MANY = 12_000;
const BODY = { model: "plain-1", messages: [{ role: "user", content: "Hello" }] };

let gateway: TestGateway;
let root: Browser;
let org: string;
let crowd: string;

beforeAll(async () => {
  // Their rows are inserted into its file.
  gateway = await startGateway({
    store: "sqlite",
    configure: (config) => (config.signIn.perMinute = 1000),
  });
  root = await firstOperator(gateway);
  crowd = (await root.app("POST /operator/organizations", {}, { name: "Crowd" })).id;
  org = (await root.app("POST /operator/organizations", {}, { name: "Small" })).id;
  fill(
    "people.sqlite",
    `INSERT INTO user (id, name, email, emailVerified, createdAt, updatedAt, operator)
     VALUES ('usr_0many' || ?1, 'Person ' || ?1, 'person' || ?1 || '@example.com', 1, ?2, ?2, 0)`,
    new Date().toISOString(),
  );
  fill(
    "people.sqlite",
    `INSERT INTO membership (id, place, organizationId, personId, role, joinedAt, seenAt)
     VALUES ('mem_0many' || ?1, ?2 || ' usr_0many' || ?1, ?2, 'usr_0many' || ?1, 'viewer', 1, 4000000000000 + ?1)`,
    crowd,
  );
}, 120_000);
afterAll(() => gateway.stop());

function fill(file: string, sql: string, ...values: string[]): void {
  const database = new Database(join(gateway.dataDir, file));
  database.run("PRAGMA busy_timeout = 5000");
  const insert = database.query(sql);
  database.transaction(() => {
    for (let n = 0; n < MANY; n += 1) insert.run(n, ...values);
  })();
  database.close();
}

test("one page of all accounts is shown, and search finds any of them, each with where it belongs", async () => {
  const last = await newMember(root, gateway, { org, role: "owner", email: "zoe@example.com" });
  const { id = "" } = (await last.app("GET /session")).person ?? {};
  // Her id is the first of all: people know addresses, not ids.
  const people = new Database(join(gateway.dataDir, "people.sqlite"));
  people.run(
    `INSERT INTO user (id, name, email, emailVerified, createdAt, updatedAt, operator)
     SELECT 'usr_00first', 'Zita', 'zita@example.com', 1, createdAt, updatedAt, 0 FROM user WHERE id = 'usr_0many1'`,
  );
  people.close();
  const page = await root.app("GET /operator/people");
  expect([page.data.length, page.next_cursor]).toEqual([50, page.data.at(-1)?.person.id ?? ""]);
  const next = await root.app("GET /operator/people", {}, undefined, `?cursor=${page.next_cursor}`);
  const emails = [...page.data, ...next.data].map(({ email }) => email);
  expect([emails.length, emails]).toEqual([100, [...new Set(emails)].sort()]);
  const found = async (search: string) =>
    (await root.app("GET /operator/people", {}, undefined, `?search=${search}`)).data.map(
      ({ person, memberships }) => [person.id, memberships],
    );
  expect(await found(id)).toEqual([[id, [{ org, name: "Small", role: "owner" }]]]);
  const [late] = [["usr_0many11999", [{ org: crowd, name: "Crowd", role: "viewer" }]]];
  expect(await found("usr_0many11999")).toEqual([late]);
  expect(await found("PERSON11999@")).toEqual([late]);
  expect(await found("rson%2011999")).toEqual([late]);
  expect(await found("%25")).toEqual([]);
  const listed = await gateway.admin<{ data: unknown[]; next_cursor: string | null }>("GET", "/people");
  expect([listed.json.data.length, listed.json.next_cursor]).toEqual([1_000, expect.any(String)]);
}, 120_000);

test("the last person of all is let back in, by address and by id", async () => {
  for (const person of ["Person11999@example.com", "usr_0many11999"]) {
    const { status, json } = await gateway.admin<{ email: string }>("POST", "/people/reset", {
      person,
      two_factor: false,
    });
    expect([status, json.email]).toEqual([200, "person11999@example.com"]);
  }
  const nobody = await gateway.admin("POST", "/people/reset", { person: "nobody@example.com" });
  expect(nobody.status).toBe(404);
});

test("members are counted for the organizations shown, and shown page by page", async () => {
  const { data } = await root.app("GET /operator/organizations");
  const counted = Object.fromEntries(data.map(({ name, members }) => [name, members]));
  expect(counted).toMatchObject({ Crowd: MANY, Small: 1 });
  const team = await root.app("GET /orgs/{org}/team", { org: crowd });
  expect([team.data.length, team.owners]).toEqual([50, 0]);
  const late = await root.app("GET /orgs/{org}/team", { org: crowd }, undefined, "?search=Person%2011999");
  expect(late.data.map(({ person }) => person.id)).toEqual(["usr_0many11999"]);
  expect((await root.app("GET /orgs/{org}/overview", { org: crowd })).steps.invited).toBe(true);
  expect((await root.app("GET /orgs/{org}/overview", { org })).steps.invited).toBe(false);
}, 120_000);

test("a key that is on no list has its name where it was used, and its maker", async () => {
  const owner = await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
  const create = { name: "Long gone", scope: "standard", limit_usd: null };
  const { id, secret } = await owner.app("POST /orgs/{org}/keys", { org }, create);
  await gateway.admin("POST", "/credits", { org, usd: "5", kind: "purchase" });
  expect((await gateway.chat({ organizationId: org, keyId: id, secret: secret ?? "" }, BODY)).status).toBe(
    200,
  );
  const month = Date.now() + 86_400_000;
  const revoke = await owner.try("POST /orgs/{org}/keys/{key}/revoke", { org, key: id });
  expect(revoke.status).toBe(200);
  fill(
    "tollgate.sqlite",
    `INSERT INTO api_key (org_id, key_id, name, prefix, digest, scope, created_at, revoked_at)
     VALUES (?2, 'key_gone' || ?1, 'k', 'p', zeroblob(32), 'standard', ?3, ?3 + ?1)`,
    org,
    String(month),
  );
  const keys = async (query: string) => await owner.app("GET /orgs/{org}/keys", { org }, undefined, query);
  const all = await keys("");
  expect([all.data.length, all.revoked]).toEqual([50, MANY + 1]);
  expect(all.data.some((key) => key.id === id)).toBe(false);
  expect((await keys("?search=ong+G")).data.map((key) => [key.id, key.state])).toEqual([[id, "revoked"]]);
  expect((await keys("?state=not_over")).data).toEqual([]);
  expect((await owner.app("GET /orgs/{org}/overview", { org })).top_keys).toMatchObject([
    { key: id, name: "Long gone" },
  ]);
  const labels = async (by: string) =>
    (await owner.app("GET /orgs/{org}/usage", { org }, undefined, `?group_by=${by}`)).rows.map(
      ({ label }) => label,
    );
  expect([await labels("key"), await labels("member"), await labels("scope")]).toEqual([
    ["Long gone"],
    ["olga"],
    ["standard"],
  ]);
  const [row] = (await owner.app("GET /orgs/{org}/activity", { org })).data;
  expect(row?.key).toEqual({ id, name: "Long gone" });
  const olga = (await owner.app("GET /orgs/{org}/team", { org })).data.find(({ you }) => you);
  expect([olga?.keys, Number(olga?.month_spend_usd) > 0]).toEqual([0, true]);
}, 120_000);

// A database that sorts text by a language's rules, as most servers do by default: pages assembled here still have
// the database's order.
import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { type TestDatabase, testPostgres } from "../support/postgres.ts";

const KEYS = 12;

let beside: TestDatabase;
let admin: pg.Client;
let name: string;
let gateway: TestGateway;
let owner: Browser;
let customer: Customer;
beforeAll(async () => {
  beside = await (await testPostgres()).database();
  admin = new pg.Client({ connectionString: beside.url });
  await admin.connect();
  const [found] = (await admin.query<{ name: string }>("SELECT current_database() AS name")).rows;
  name = `${found?.name}_en`;
  await admin.query(
    `CREATE DATABASE "${name}" TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`,
  );
  const url = new URL(beside.url);
  url.pathname = `/${name}`;
  gateway = await startGateway({
    store: "postgres",
    ownDataKey: true,
    configure: (config) => void (config.databaseUrl = url.href),
  });
  customer = await gateway.customer();
  const org = customer.organizationId;
  owner = await newMember(await firstOperator(gateway), gateway, {
    org,
    role: "owner",
    email: "owner@example.com",
  });
  for (let key = 1; key < KEYS; key++) await gateway.key(org);
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  await admin.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
  await admin.end();
  await beside.drop();
});

test("capitals do not come before all small letters there", async () => {
  const { rows } = await admin.query<{ collates: boolean }>(
    "SELECT 'a' < 'B' COLLATE \"en-x-icu\" AS collates",
  );
  expect(rows).toEqual([{ collates: true }]);
});

test("keys of one millisecond, some revoked and some paused, are each on one page", async () => {
  const org = customer.organizationId;
  const { data: all } = await owner.app("GET /orgs/{org}/keys", { org }, undefined, "?limit=200");
  for (const { id: key } of all.slice(0, 4))
    await owner.app("POST /orgs/{org}/keys/{key}/revoke", { org, key });
  for (const { id: key } of all.slice(4, 8))
    await owner.app("POST /orgs/{org}/keys/{key}/pause", { org, key });
  await gateway.tamper("UPDATE api_key SET created_at = 1795000000000 WHERE org_id = ?1", org);
  const ids: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null && ids.length <= KEYS) {
    const query: string = `?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
    const page = await owner.app("GET /orgs/{org}/keys", { org }, undefined, query);
    ids.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor;
  }
  expect(ids).toEqual(all.map(({ id }) => id).toSorted((a, b) => (a < b ? 1 : -1)));
});

test("the books of such a database are found correct", async () => {
  expect(
    (await gateway.chat(customer, { model: "plain-1", messages: [{ role: "user", content: "Hi" }] })).status,
  ).toBe(200);
  await gateway.assertSound();
});

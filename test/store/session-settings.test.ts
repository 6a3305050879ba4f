// A database whose server, or whose role, formats values in its own way and does not wait for its commits, as some
// old or shared ones do: every connection of a gateway sets what it needs.
import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { Browser, firstOperator, newMember, PASSWORD } from "../support/browser.ts";
import { hello, startGateway, type TestGateway } from "../support/gateway.ts";

const OWN_MANNER = {
  DateStyle: "German,DMY",
  TimeZone: "Asia/Kathmandu",
  IntervalStyle: "postgres_verbose",
  bytea_output: "escape",
  extra_float_digits: "0",
  standard_conforming_strings: "off",
  array_nulls: "off",
  transform_null_equals: "on",
  client_min_messages: "error",
  synchronous_commit: "off",
  default_transaction_isolation: "serializable",
};

let gateway: TestGateway;
let root: Browser;
let databaseUrl = "";
beforeAll(async () => {
  gateway = await startGateway({
    store: "postgres",
    configure: (config) => {
      const url = new URL(config.databaseUrl ?? "");
      const settings = Object.entries(OWN_MANNER).map(([name, value]) => `-c ${name}=${value}`);
      url.search = `?options=${encodeURIComponent(settings.join(" "))}`;
      config.databaseUrl = databaseUrl = url.href;
    },
  });
  root = await firstOperator(gateway);
});
afterAll(() => gateway.stop());

test("a connection without these settings has that format", async () => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ bytes: string; at: string }>(
    "SELECT decode('00ff', 'hex')::text AS bytes, '2026-11-27T07:00:00Z'::timestamptz::text AS at",
  );
  await client.end();
  expect(rows).not.toEqual([{ bytes: "\\x00ff", at: "2026-11-27 07:00:00+00" }]);
});

test("people sign in, and their sessions end when they should", async () => {
  const { organizationId: org } = await gateway.customer();
  await newMember(root, gateway, { org, role: "owner", email: "owner@example.com" });
  const browser = new Browser(gateway.url);
  const signedIn = await browser.send("POST", "/auth/sign-in/email", {
    email: "owner@example.com",
    password: PASSWORD,
  });
  expect(signedIn.status).toBe(200);
  const { sessions } = await browser.app("GET /profile");
  const days = sessions.map(({ expires_at: at }) => Math.round((Date.parse(at) - Date.now()) / 86_400_000));
  expect(days).toEqual([7, 7]);
});

test("a retry gets the same bytes, and the books are found correct", async () => {
  const customer = await gateway.customer();
  const key = { "idempotency-key": "own-manner-1" };
  const first = await gateway.stream(customer, hello(), key);
  const again = await gateway.stream(customer, hello(), key);
  expect([first.status, again.text]).toEqual([200, first.text]);
  expect(gateway.simulator.bill().length).toBe(1);
  const { organizationId: org } = customer;
  const owner = await newMember(root, gateway, { org, role: "owner", email: "payer@example.com" });
  const { charges_usd: charged } = await owner.app("GET /orgs/{org}/billing/statement", { org });
  expect(Number(charged)).toBeGreaterThan(0);
  await gateway.assertSound();
});

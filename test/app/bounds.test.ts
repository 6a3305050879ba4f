// Everything that a tenant or a person can create many of has a limit, is refused with what to do, and can be read
// one by one.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Browser, firstOperator, newMember, PASSWORD } from "../support/browser.ts";
import type { ErrorJson } from "../support/events.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
let root: Browser;
let owner: Browser;
let org: string;

beforeAll(async () => {
  // Their rows are inserted into its file.
  gateway = await startGateway({
    store: "sqlite",
    configure: (config) => (config.signIn.perMinute = 1000),
  });
  root = await firstOperator(gateway);
  org = (await root.app("POST /operator/organizations", {}, { name: "Acme" })).id;
  owner = await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
});
afterAll(() => gateway.stop());

/** Rows from before these limits, or that would take long to create. */
function rows(file: string, sql: string, times: number, ...values: string[]): void {
  const database = new Database(join(gateway.dataDir, file));
  database.run("PRAGMA busy_timeout = 5000");
  const insert = database.query(sql);
  database.transaction(() => {
    for (let n = 0; n < times; n += 1) insert.run(`${n}`, ...values);
  })();
  database.close();
}
const now = (): string => new Date().toISOString();
const personId = async (browser: Browser): Promise<string> =>
  (await browser.app("GET /session")).person?.id ?? "nobody";

test("a playground request has no more values than any other request", async () => {
  const asked = { request: { messages: Array.from({ length: 500_001 }, () => 0) } };
  const refused = await owner.send<ErrorJson>("POST", `/app/v1/orgs/${org}/playground`, asked);
  expect([refused.status, refused.json.error.code]).toEqual([400, "too_many_values"]);
});

test("with 1,000 live keys another one is refused, also as a replacement, and the refusal says what to do; editing still works", async () => {
  const create = { name: "First", scope: "standard", limit_usd: null };
  const { id: key, secret } = await owner.app("POST /orgs/{org}/keys", { org }, create);
  expect(secret).toStartWith("gw_");
  rows(
    "tollgate.sqlite",
    `INSERT INTO api_key (org_id, key_id, name, prefix, digest, scope, created_at)
     VALUES (?2, 'key_many' || ?1, 'k', 'p', zeroblob(32), 'standard', 1)`,
    999,
    org,
  );
  const refused = await owner.try("POST /orgs/{org}/keys", { org }, create);
  expect([refused.status, refused.json.error.code]).toEqual([409, "conflict"]);
  expect(refused.json.error.message).toContain("Revoke one");
  expect((await owner.try("POST /orgs/{org}/keys/{key}/replace", { org, key })).status).toBe(409);
  const { version } = await owner.app("GET /orgs/{org}/keys/{key}", { org, key });
  const edited = await owner.app("PATCH /orgs/{org}/keys/{key}", { org, key }, { name: "Other", version });
  expect(edited).toMatchObject({ id: key, name: "Other", created_by: { name: "olga", left: false } });
  await owner.app("POST /orgs/{org}/keys/{key}/revoke", { org, key: "key_many7" });
  expect((await owner.try("POST /orgs/{org}/keys", { org }, create)).status).toBe(201);
});

test("a key is read by its id: even if no page has shown it, but not one of another organization", async () => {
  const other = (await root.app("POST /operator/organizations", {}, { name: "Other" })).id;
  rows(
    "tollgate.sqlite",
    `INSERT INTO api_key (org_id, key_id, name, prefix, digest, scope, created_at, revoked_at)
     VALUES (?2, 'key_gone' || ?1, 'k', 'p', zeroblob(32), 'standard', 1, 2 + ?1)`,
    600,
    other,
  );
  const { data, revoked } = await root.app("GET /orgs/{org}/keys", { org: other });
  expect([data.length, revoked]).toEqual([50, 600]);
  expect(data.some(({ id }) => id === "key_gone0")).toBe(false);
  const read = (at: string) => root.try("GET /orgs/{org}/keys/{key}", { org: at, key: "key_gone0" });
  expect((await read(other)).json).toMatchObject({ last_four: null }); // made before they were stored
  expect([(await read(other)).status, (await read(org)).status]).toEqual([200, 404]);
  const refusals = (at: string) =>
    root.try("GET /orgs/{org}/keys/{key}/refusals", { org: at, key: "key_gone0" });
  expect([(await refusals(other)).status, (await refusals(org)).status]).toEqual([200, 404]);
});

test("100 invitations can be open at once, 500 can be sent a day; a withdrawn one makes room", async () => {
  const at = (await root.app("POST /operator/organizations", {}, { name: "Inviting" })).id;
  const ina = await newMember(root, gateway, { org: at, role: "owner", email: "ina@example.com" });
  const invite = (email: string) =>
    root.try("POST /operator/organizations/{org}/invitations", { org: at }, { email, role: "viewer" });
  const many = (state: string, times: number): void =>
    rows(
      "people.sqlite",
      `INSERT INTO invitation (id, digest, organizationId, email, role, invitedBy, createdAt, expiresAt, state)
       VALUES ('inv_${state}' || ?1, '${state}' || ?1, ?2, ?1 || '@example.com', 'viewer', 'usr_x', ?3, ?3 + 1000000, '${state}')`,
      times,
      at,
      `${Date.now()}`,
    );
  expect((await invite("first@example.com")).status).toBe(201);
  many("open", 99);
  const refused = await invite("one-more@example.com");
  expect([refused.status, refused.json.error.message]).toEqual([
    409,
    expect.stringContaining("Withdraw one"),
  ]);
  // Inviting the same address again takes no further place.
  expect((await invite("first@example.com")).status).toBe(201);
  await ina.app("DELETE /orgs/{org}/invitations/{invitation}", { org: at, invitation: "inv_open3" });
  expect((await invite("one-more@example.com")).status).toBe(201);
  many("withdrawn", 400);
  const tomorrow = await invite("first@example.com");
  expect([tomorrow.status, tomorrow.json.error.message]).toEqual([409, expect.stringContaining("tomorrow")]);
});

test("an open invitation is listed and can be withdrawn, however many newer ones there are", async () => {
  const { id: at } = await root.app("POST /operator/organizations", {}, { name: "Much invited" });
  const email = "early@example.com";
  const made = "POST /operator/organizations/{org}/invitations";
  const { id } = await root.app(made, { org: at }, { email, role: "viewer" });
  rows(
    "people.sqlite",
    `INSERT INTO invitation (id, digest, organizationId, email, role, invitedBy, createdAt, expiresAt, state)
     VALUES ('inv_later' || ?1, 'later' || ?1, ?2, ?1 || '@example.com', 'viewer', 'usr_x', ?3 + ?1, ?3 + 1000000, 'withdrawn')`,
    1000,
    at,
    `${Date.now()}`,
  );
  const open = async (): Promise<string[]> => {
    const page = await root.app("GET /orgs/{org}/invitations", { org: at }, undefined, "?state=open");
    return page.data.map((invitation) => invitation.id);
  };
  expect(await open()).toEqual([id]);
  await root.app("DELETE /orgs/{org}/invitations/{invitation}", { org: at, invitation: id });
  expect(await open()).toEqual([]);
});

test("an organization has 1,000 members at most", async () => {
  const at = (await root.app("POST /operator/organizations", {}, { name: "Crowd" })).id;
  const carl = await newMember(root, gateway, { org: at, role: "owner", email: "carl@example.com" });
  const invited = { email: "last@example.com", role: "viewer" };
  const { link } = await root.app("POST /operator/organizations/{org}/invitations", { org: at }, invited);
  rows(
    "people.sqlite",
    `INSERT INTO membership (id, place, organizationId, personId, role, joinedAt, seenAt)
     VALUES ('mem_many' || ?1, ?2 || ' usr_' || ?1, ?2, 'usr_' || ?1, 'viewer', 1, 1)`,
    999,
    at,
  );
  const refused = await root.try("POST /operator/organizations/{org}/invitations", { org: at }, invited);
  expect([refused.status, refused.json.error.message]).toEqual([
    409,
    expect.stringContaining("1000 members"),
  ]);
  const token = link?.split("#token=")[1];
  const account = { name: "Last", password: PASSWORD };
  const late = await new Browser(gateway.url).try("POST /invitations/accept", {}, { token, account });
  expect(late.status).toBe(409);
  // It had no effect: the link works as before once there is room.
  await carl.app("DELETE /orgs/{org}/team/{member}", { org: at, member: "usr_7" });
  const arrived = await new Browser(gateway.url).try("POST /invitations/accept", {}, { token, account });
  expect(arrived.status).toBe(200);
});

test("a person has at most 50 sessions, the oldest end; all others can be ended at once, however many an older version left", async () => {
  const person = await personId(owner);
  const many = (name: string): void =>
    rows(
      "people.sqlite",
      `INSERT INTO session (id, token, userId, createdAt, updatedAt, expiresAt)
       VALUES ('ses_${name}' || ?1, '${name}' || ?1, ?2, ?3, ?3, '2099-01-01T00:00:00.000Z')`,
      150,
      person,
      "2026-01-01T00:00:00.000Z",
    );
  const left = (): unknown => {
    const database = new Database(join(gateway.dataDir, "people.sqlite"), { readonly: true });
    const [row] = database.query("SELECT count(*) FROM session WHERE userId = ?1").values(person);
    database.close();
    return row?.[0];
  };
  many("old");
  const again = new Browser(gateway.url);
  const signedIn = await again.send("POST", "/auth/sign-in/email", {
    email: "olga@example.com",
    password: PASSWORD,
  });
  expect([signedIn.status, left()]).toEqual([200, 50]);
  expect((await again.app("GET /profile")).sessions).toHaveLength(50);
  expect((await owner.app("GET /session")).person?.id).toBe(person);
  many("older");
  await again.app("POST /profile/sessions/end-others");
  expect(left()).toBe(1);
  expect((await again.app("GET /profile")).sessions).toMatchObject([{ current: true }]);
  owner = again;
});

test("a person has at most 20 passkeys", async () => {
  const ask = () =>
    root.send<{ error: { message: string } }>("GET", "/auth/passkey/generate-register-options");
  expect((await ask()).status).toBe(200);
  rows(
    "people.sqlite",
    `INSERT INTO passkey (id, publicKey, userId, credentialID, counter, deviceType, backedUp, createdAt)
     VALUES ('pky_' || ?1, 'k', ?2, 'c' || ?1, 0, 'singleDevice', 0, ?3)`,
    20,
    await personId(root),
    now(),
  );
  const refused = await ask();
  expect([refused.status, refused.json.error.message]).toEqual([409, expect.stringContaining("Remove one")]);
});

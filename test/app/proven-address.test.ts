// Accounts made in another person's name: inviters see the link, and an organization's owner can make an account of
// any address with it. Once the address' own person proves it, by the company's sign-in or by a link for a new
// password, nothing the other one left still works.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import pg from "pg";
import { Browser, firstOperator, newMember, PASSWORD, tokenOf } from "../support/browser.ts";
import { type Company, startCompany } from "../support/company.ts";
import { STORES, startGateway, type TestGateway } from "../support/gateway.ts";
import { Passkey } from "../support/passkey.ts";
import { codeOf } from "../support/totp.ts";
import { waitFor } from "../support/wait.ts";

const HELD = 4711;

/** On PostgreSQL: matching rows of this table wait for `release` from now on. */
async function holdRows(databaseUrl: string, table: string, like: string) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`SELECT pg_advisory_lock(${HELD})`);
  await client.query(`CREATE OR REPLACE FUNCTION people.held() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock(${HELD}); RETURN NEW; END $$`);
  await client.query(`CREATE TRIGGER held BEFORE INSERT ON people.${table} FOR EACH ROW
    WHEN (${like}) EXECUTE FUNCTION people.held()`);
  const waiting = async (): Promise<boolean> =>
    (
      await client.query(
        `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = ${HELD} AND NOT granted`,
      )
    ).rows.length > 0;
  return {
    reached: () => waitFor(waiting, `a row of ${table}`),
    release: async () => {
      await client.query(`SELECT pg_advisory_unlock(${HELD})`);
      await client.query(`DROP TRIGGER held ON people.${table}`);
      await client.end();
    },
  };
}

const THEIRS = "a password of Mallory's";

describe.each(STORES)("on %s", (store) => {
  let company: Company;
  let gateway: TestGateway;
  let root: Browser;
  let mallory: Browser;
  let databaseUrl: string;
  let [evil, acme] = ["", ""];

  beforeAll(async () => {
    company = await startCompany("tollgate");
    gateway = await startGateway({
      store,
      configure: (config) => {
        const { discoveryUrl } = company;
        databaseUrl = config.databaseUrl ?? "";
        config.signIn.perMinute = 100;
        config.signIn.oidc = [
          { id: "acme", name: "Acme", discoveryUrl, clientId: "tollgate", clientSecret: "s" },
        ];
      },
    });
    root = await firstOperator(gateway);
    [evil, acme] = [await organization("Evil"), await organization("Acme")];
    mallory = await newMember(root, gateway, { org: evil, role: "owner", email: "mallory@example.com" });
  });
  afterAll(async () => {
    await gateway.stop();
    await company.stop();
  });

  const organization = async (name: string): Promise<string> =>
    (await root.app("POST /operator/organizations", {}, { name })).id;
  const signIn = (password: string, email: string) =>
    new Browser(gateway.url).send("POST", "/auth/sign-in/email", { email, password });
  const personOf = async (browser: Browser) => (await browser.app("GET /session")).person?.email ?? null;

  /** An account of the address, made by Mallory, with a second factor of hers; the browser is signed in to it. */
  async function madeByMallory(email: string): Promise<Browser> {
    const invited = await mallory.app(
      "POST /orgs/{org}/invitations",
      { org: evil },
      { email, role: "viewer" },
    );
    const browser = new Browser(gateway.url);
    const account = { name: "Not Mallory", password: THEIRS };
    await browser.app("POST /invitations/accept", {}, { token: tokenOf(invited.link), account });
    const made = await browser.send<{ totpURI: string }>("POST", "/auth/two-factor/enable", {
      password: THEIRS,
    });
    const code = codeOf(made.json.totpURI);
    expect((await browser.send("POST", "/auth/two-factor/verify-totp", { code })).status).toBe(200);
    expect(await personOf(browser)).toBe(email);
    return browser;
  }

  async function byCompany(email: string): Promise<Browser> {
    const browser = new Browser(gateway.url);
    expect(await companysWord(email, browser)).toBe("/");
    return browser;
  }

  /** Where the company's sign-in leads. */
  async function companysWord(email: string, browser: Browser): Promise<string | null> {
    company.person = { sub: email, email, email_verified: true, name: "Herself" };
    const begun = await browser.send<{ url: string }>("POST", "/auth/sign-in/social", {
      provider: "acme",
      callbackURL: "/",
      errorCallbackURL: "/sign-in",
    });
    const back = new URL(company.approve(begun.json.url));
    const ended = await browser.send("GET", back.pathname + back.search);
    return ended.headers.get("location");
  }

  const joins = async (browser: Browser, email: string): Promise<void> => {
    const invited = await root.app(
      "POST /operator/organizations/{org}/invitations",
      { org: acme },
      { email, role: "owner" },
    );
    await browser.app("POST /invitations/accept", {}, { token: tokenOf(invited.link) });
  };

  test("a person who signs in through the company owns the account alone from then on", async () => {
    const left = await madeByMallory("vera@example.com");
    const vera = await byCompany("vera@example.com");
    await joins(vera, "vera@example.com");
    expect([await personOf(vera), await personOf(left)]).toEqual(["vera@example.com", null]);
    expect((await left.try("GET /orgs/{org}/keys", { org: acme })).status).toBe(401);
    expect((await signIn(THEIRS, "vera@example.com")).status).toBe(401);
    expect(await personOf(await byCompany("vera@example.com"))).toBe("vera@example.com");
  });

  test("a person who sets a new password by a link is not asked for a second factor that someone else set up", async () => {
    const left = await madeByMallory("paul@example.com");
    const { link } = await gateway
      .admin<{ link: string }>("POST", "/people/reset", { person: "paul@example.com", two_factor: false })
      .then(({ json }) => json);
    const paul = new Browser(gateway.url);
    await paul.app("POST /reset", {}, { token: tokenOf(link), password: PASSWORD });
    const signedIn = await signIn(PASSWORD, "paul@example.com");
    expect([signedIn.status, signedIn.json["user"]]).toEqual([
      200,
      expect.objectContaining({ email: "paul@example.com" }),
    ]);
    expect(await personOf(left)).toBeNull();
  });

  test.if(store === "postgres")(
    "a passkey that signs in while the address is proven opens nothing afterwards",
    async () => {
      const email = "rita@example.com";
      const left = await madeByMallory(email);
      const person = (await left.app("GET /session")).person?.id ?? "";
      const passkey = new Passkey();
      await gateway.tamper(
        `INSERT INTO people.passkey (id, "publicKey", "userId", "credentialID", counter, "deviceType", "backedUp")
       VALUES ('pky_' || ?1, ?2, ?1, ?3, 0, 'singleDevice', FALSE)`,
        person,
        passkey.publicKey,
        passkey.credentialId,
      );
      expect([(await passkey.signIn(left.copy())).status, await personOf(left)]).toEqual([200, email]);
      const { link } = await gateway
        .admin<{ link: string }>("POST", "/people/reset", { person: email, two_factor: false })
        .then(({ json }) => json);
      const held = await holdRows(databaseUrl, "session", `NEW."userId" = '${person}'`);
      const thief = new Browser(gateway.url);
      const first = passkey.signIn(thief);
      await held.reached();
      const rita = new Browser(gateway.url);
      const proven = rita.app("POST /reset", {}, { token: tokenOf(link), password: PASSWORD });
      await Bun.sleep(500); // one change after the other: it waits
      await held.release();
      await Promise.all([first, proven]);
      expect(await personOf(thief)).toBeNull();
      expect((await signIn(PASSWORD, email)).status).toBe(200);
    },
  );

  test.if(store === "postgres")(
    "an account whose person comes while it is made has no password of its maker once they are in",
    async () => {
      const email = "sam@example.com";
      const { link } = await mallory.app(
        "POST /orgs/{org}/invitations",
        { org: evil },
        { email, role: "viewer" },
      );
      const held = await holdRows(databaseUrl, "account", `NEW."providerId" = 'credential'`);
      const thief = new Browser(gateway.url);
      const account = { name: "Not Mallory", password: THEIRS };
      const late = thief.try("POST /invitations/accept", {}, { token: tokenOf(link), account });
      await held.reached();
      // Not made yet: the company's statement concerns nobody, and has to come again.
      expect(await companysWord(email, new Browser(gateway.url))).toBe("/sign-in?error=signup_disabled");
      await held.release();
      expect((await late).status).toBe(200);
      const sam = await byCompany(email);
      expect([await personOf(thief), await personOf(sam)]).toEqual([null, email]);
      expect((await signIn(THEIRS, email)).status).toBe(401);
    },
  );

  test("a person invited by an operator keeps their password when they also sign in through the company", async () => {
    await newMember(root, gateway, { org: acme, role: "viewer", email: "olga@example.com" });
    expect(await personOf(await byCompany("olga@example.com"))).toBe("olga@example.com");
    expect((await signIn(PASSWORD, "olga@example.com")).status).toBe(200);
  });
});

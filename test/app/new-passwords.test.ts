// A new password ends everything based on the old one: links for another, and sign-ins in progress, on both stores.
// Nobody who found an open session can use it to guess the password.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Passwords } from "../../src/people/sign-in.ts";
import { Browser, firstOperator, PASSWORD, tokenOf } from "../support/browser.ts";
import { startGateway, STORES, type Store, type TestGateway } from "../support/gateway.ts";
import { codeOf, nextCodeOf } from "../support/totp.ts";
import { QUICK_PASSWORDS } from "../support/passwords.ts";

setDefaultTimeout(60_000);

const PER_MINUTE = 8;
const [FIRST, SECOND] = ["the first new password", "the second new password"];

describe.each([...STORES])("%s", (store: Store) => {
  let gateway: TestGateway;
  let root: Browser;
  let org: string;
  let count = 0;
  /** Called after a password has been compared, before the result is returned. */
  let compared: () => Promise<void> = async () => {};
  const passwords: Passwords = {
    hash: (password) => QUICK_PASSWORDS.hash(password),
    verify: async (tried) => {
      const fits = await QUICK_PASSWORDS.verify(tried);
      await compared();
      return fits;
    },
  };

  beforeAll(async () => {
    gateway = await startGateway({
      store,
      passwords,
      configure: (config) => {
        config.signIn.perMinute = PER_MINUTE;
        config.server.trustedProxies = ["127.0.0.0/8"];
      },
    });
    root = await firstOperator(gateway);
    org = (await root.app("POST /operator/organizations", {}, { name: "Acme" })).id;
  });
  afterAll(() => gateway.stop());

  /** From a separate address each time, because attempts are counted. */
  const elsewhere = () => ({ headers: { "x-forwarded-for": `203.0.113.${++count}` } });
  interface Somebody {
    id: string;
    email: string;
    browser: Browser;
  }
  async function somebody(): Promise<Somebody> {
    const email = `person${++count}@example.com`;
    const { link } = await root.app(
      "POST /operator/organizations/{org}/invitations",
      { org },
      { email, role: "viewer" },
    );
    const browser = new Browser(gateway.url);
    const body = { token: tokenOf(link), account: { name: "New", password: PASSWORD } };
    await browser.try("POST /invitations/accept", {}, body, elsewhere());
    const { person } = await browser.app("GET /session");
    return { id: person?.id ?? "", email, browser };
  }
  const linkFor = async (person: string): Promise<string | null> =>
    (await root.app("POST /operator/people/{person}/reset", { person })).link;
  /** As the person's device would have stored it. */
  async function keepPasskey(person: string): Promise<void> {
    const columns = `(id, "publicKey", "userId", "credentialID", counter, "deviceType", "backedUp")`;
    const values = `('pky_' || ?1, 'k', ?1, 'c' || ?1, 0, 'singleDevice', FALSE)`;
    if (store === "postgres")
      return await gateway.tamper(`INSERT INTO people.passkey ${columns} VALUES ${values}`, person);
    const people = new Database(join(gateway.dataDir, "people.sqlite"));
    people.run("PRAGMA busy_timeout = 5000");
    people.run(`INSERT INTO passkey ${columns} VALUES ${values}`, [person]);
    people.close();
  }
  const reset = async (link: string | null, password: string): Promise<number> =>
    (await new Browser(gateway.url).try("POST /reset", {}, { token: tokenOf(link), password }, elsewhere()))
      .status;
  const signIn = (browser: Browser, email: string, password: string) =>
    browser.send<{ error?: { code: string } }>(
      "POST",
      "/auth/sign-in/email",
      { email, password },
      elsewhere().headers,
    );

  test("of an account's links for a new password only the newest works, and none once a new one is set", async () => {
    const { id, email, browser } = await somebody();
    const [lost, used] = [await linkFor(id), await linkFor(id)];
    expect([await reset(lost, SECOND), await reset(used, FIRST)]).toEqual([410, 200]);
    expect((await signIn(browser, email, FIRST)).status).toBe(200);
    const late = await linkFor(id);
    const other = await somebody();
    const theirs = await linkFor(other.id);
    await browser.app("POST /profile/password", {}, { current: FIRST, next: SECOND });
    expect([await reset(late, FIRST), await reset(theirs, FIRST)]).toEqual([410, 200]);
  });

  test("after a lost phone: passkeys are removed with the second factor, and kept with only a new password", async () => {
    const { id, browser } = await somebody();
    await keepPasskey(id);
    const passkeys = async (): Promise<number> => (await browser.app("GET /profile")).passkeys.length;
    await root.app("POST /operator/people/{person}/reset", { person: id }, { two_factor: false });
    expect(await passkeys()).toBe(1);
    await root.app("POST /operator/people/{person}/reset", { person: id }, { two_factor: true });
    expect(await passkeys()).toBe(0);
  });

  test("a person signing in with the old password while a new one is set is not signed in", async () => {
    for (const way of ["link", "profile"]) {
      const { id, email, browser } = await somebody();
      const link = await linkFor(id);
      const thief = new Browser(gateway.url);
      const held = Promise.withResolvers<void>();
      const there = Promise.withResolvers<void>();
      compared = async () => {
        compared = async () => {};
        there.resolve();
        await held.promise;
      };
      const late = signIn(thief, email, PASSWORD);
      await there.promise;
      if (way === "link") expect(await reset(link, FIRST)).toBe(200);
      else await browser.app("POST /profile/password", {}, { current: PASSWORD, next: FIRST });
      held.resolve();
      const { status, json } = await late;
      expect([way, status, json.error?.code]).toEqual([way, 401, "not_signed_in"]);
      expect((await thief.app("GET /session")).person).toBeNull();
      expect((await signIn(thief, email, FIRST)).status).toBe(200);
    }
  });

  test("if the old password was given, but not yet the code, when a new one is set, the new one is asked for first", async () => {
    for (const way of ["link", "profile"])
      for (const proof of ["totp", "backup-code"]) {
        const { id, email, browser } = await somebody();
        const factor = (path: string, body: object, by = browser) =>
          by.send<{ totpURI: string; backupCodes: string[]; error?: { code: string } }>(
            "POST",
            `/auth/two-factor/${path}`,
            body,
            elsewhere().headers,
          );
        const { totpURI, backupCodes } = (await factor("enable", { password: PASSWORD })).json;
        await factor("verify-totp", { code: codeOf(totpURI) });
        const thief = new Browser(gateway.url);
        expect((await signIn(thief, email, PASSWORD)).status).toBe(200);
        if (way === "link") expect(await reset(await linkFor(id), FIRST)).toBe(200);
        else await browser.app("POST /profile/password", {}, { current: PASSWORD, next: FIRST });
        const code = (): string => (proof === "totp" ? nextCodeOf(totpURI) : (backupCodes.pop() ?? ""));
        const { status, json } = await factor(`verify-${proof}`, { code: code() }, thief);
        expect([way, proof, status, json.error?.code]).toEqual([way, proof, 401, "not_signed_in"]);
        expect((await thief.app("GET /session")).person).toBeNull();
        expect((await signIn(thief, email, FIRST)).status).toBe(200);
        if (proof === "totp") continue; // it was used in this half minute
        expect((await factor(`verify-${proof}`, { code: code() }, thief)).status).toBe(200);
        expect((await thief.app("GET /session")).person?.id).toBe(id);
      }
  });

  test("a session may give a wrong current password only so often, from however many addresses, and blocks no other session", async () => {
    const { email, browser } = await somebody();
    const owner = new Browser(gateway.url);
    await signIn(owner, email, PASSWORD);
    const change = async (by: Browser, current: string): Promise<number> =>
      (await by.try("POST /profile/password", {}, { current, next: FIRST }, elsewhere())).status;
    const tries: number[] = [];
    for (let i = 0; i <= PER_MINUTE; i++) tries.push(await change(browser, `a guess of number ${i}`));
    expect(tries).toEqual([...Array<number>(PER_MINUTE).fill(400), 429]);
    for (const path of ["enable", "disable", "get-totp-uri", "generate-backup-codes"]) {
      const at = `/auth/two-factor/${path}`;
      expect((await browser.send("POST", at, { password: PASSWORD }, elsewhere().headers)).status).toBe(429);
    }
    expect([await change(browser, PASSWORD), await change(owner, PASSWORD)]).toEqual([429, 200]);
  });
});

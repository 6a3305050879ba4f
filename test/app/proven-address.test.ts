// Accounts in somebody else's name: whoever invites sees the link, and an organization's owner can make an account of any address
// with it. Once its person proves the address, by their company or by a link for a new password, what the other one left opens nothing.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Browser, firstOperator, newMember, PASSWORD, tokenOf } from "../support/browser.ts";
import { type Company, startCompany } from "../support/company.ts";
import { STORES, startGateway, type TestGateway } from "../support/gateway.ts";
import { codeOf } from "../support/totp.ts";

const THEIRS = "a password of Mallory's";

describe.each(STORES)("on %s", (store) => {
  let company: Company;
  let gateway: TestGateway;
  let root: Browser;
  let mallory: Browser;
  let [evil, acme] = ["", ""];

  beforeAll(async () => {
    company = await startCompany("tollgate");
    gateway = await startGateway({
      store,
      configure: (config) => {
        const { discoveryUrl } = company;
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

  /** An account of the address, made by Mallory, with a second factor of hers; the browser is signed in as it. */
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
    company.person = { sub: email, email, email_verified: true, name: "Herself" };
    const browser = new Browser(gateway.url);
    const begun = await browser.send<{ url: string }>("POST", "/auth/sign-in/social", {
      provider: "acme",
      callbackURL: "/",
      errorCallbackURL: "/sign-in",
    });
    const back = new URL(company.approve(begun.json.url));
    const ended = await browser.send("GET", back.pathname + back.search);
    expect(ended.headers.get("location")).toBe("/");
    return browser;
  }

  const joins = async (browser: Browser, email: string): Promise<void> => {
    const invited = await root.app(
      "POST /operator/organizations/{org}/invitations",
      { org: acme },
      { email, role: "owner" },
    );
    await browser.app("POST /invitations/accept", {}, { token: tokenOf(invited.link) });
  };

  test("who comes by their company has the account alone from then on", async () => {
    const left = await madeByMallory("vera@example.com");
    const vera = await byCompany("vera@example.com");
    await joins(vera, "vera@example.com");
    expect([await personOf(vera), await personOf(left)]).toEqual(["vera@example.com", null]);
    expect((await left.try("GET /orgs/{org}/keys", { org: acme })).status).toBe(401);
    expect((await signIn(THEIRS, "vera@example.com")).status).toBe(401);
    expect(await personOf(await byCompany("vera@example.com"))).toBe("vera@example.com");
  });

  test("who sets a new password by a link is asked for no second factor that somebody else set up", async () => {
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

  test("whom an operator invited keeps their password beside their company's word", async () => {
    await newMember(root, gateway, { org: acme, role: "viewer", email: "olga@example.com" });
    expect(await personOf(await byCompany("olga@example.com"))).toBe("olga@example.com");
    expect((await signIn(PASSWORD, "olga@example.com")).status).toBe(200);
  });
});

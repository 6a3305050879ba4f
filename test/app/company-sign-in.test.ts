// Company sign-in, with a fake service: it lets in people who were invited, and nobody else. Also the cookies of
// https.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Browser, firstOperator, newMember, PASSWORD } from "../support/browser.ts";
import { type Company, startCompany } from "../support/company.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

let company: Company;
let gateway: TestGateway;
let org: string;

beforeAll(async () => {
  company = await startCompany("tollgate");
  gateway = await startGateway({
    configure: (config) => {
      const { discoveryUrl } = company;
      config.signIn.oidc = [
        { id: "acme", name: "Acme", discoveryUrl, clientId: "tollgate", clientSecret: "s" },
      ];
    },
  });
  const root = await firstOperator(gateway);
  org = (await root.app("POST /operator/organizations", {}, { name: "Acme" })).id;
  await newMember(root, gateway, { org, role: "viewer", email: "vera@example.com" });
});
afterAll(async () => {
  await gateway.stop();
  await company.stop();
});

const beginWithCompany = (browser: Browser) =>
  browser.send<{ url: string }>("POST", "/auth/sign-in/social", {
    provider: "acme",
    callbackURL: "/",
    errorCallbackURL: "/sign-in",
  });

/** A browser's whole way: to the company and back. Returns where it ends. */
async function signInWithCompany(browser: Browser): Promise<string> {
  const begun = await beginWithCompany(browser);
  expect(begun.status).toBe(200);
  const back = new URL(company.approve(begun.json.url));
  expect(back.pathname).toBe("/auth/callback/acme");
  const ended = await browser.send("GET", back.pathname + back.search);
  return `${ended.status} ${ended.headers.get("location")}`;
}

test("the sign-in page knows of it", async () => {
  const { ways } = await new Browser(gateway.url).app("GET /session");
  expect(ways.oidc).toEqual([{ id: "acme", name: "Acme" }]);
});

test("an invited person gets in with an address verified by the company", async () => {
  company.person = { sub: "42", email: "vera@example.com", email_verified: true, name: "Vera" };
  const browser = new Browser(gateway.url);
  expect(await signInWithCompany(browser)).toBe("302 /");
  const { person } = await browser.app("GET /session");
  expect(person).toMatchObject({ email: "vera@example.com", memberships: [{ org, role: "viewer" }] });
});

test("a person who was not invited, or whose address the company did not verify, gets no account and no session", async () => {
  for (const person of [
    { sub: "43", email: "eve@example.com", email_verified: true, name: "Eve" },
    { sub: "44", email: "root@example.com", email_verified: false, name: "Mallory" },
    // As some services write it.
    { sub: "45", email: "root@example.com", email_verified: "false", name: "Mallory" },
    { sub: "42", email: ["vera@example.com"], email_verified: true, name: "Vera" },
  ]) {
    company.person = person;
    const browser = new Browser(gateway.url);
    expect(await signInWithCompany(browser)).toMatch(/^302 \/sign-in\?error=/);
    expect((await browser.app("GET /session")).person).toBeNull();
  }
  const sent = await new Browser(gateway.url).send("POST", "/auth/sign-in/social", {
    provider: "acme",
    callbackURL: "https://evil.example/",
  });
  expect(sent.status).toBe(403);
});

test("a service that sends the flag as text is believed, too", async () => {
  company.person = { sub: "46", email: "vera@example.com", email_verified: "true", name: "Vera" };
  expect(await signInWithCompany(new Browser(gateway.url))).toBe("302 /");
});

test("the company's userinfo counts only for the person of its signed token", async () => {
  const vera = { sub: "42", email: "vera@example.com", email_verified: true, name: "Vera" };
  try {
    for (const [sub, end] of [
      ["42", /^302 \/$/],
      ["47", /^302 \/sign-in\?error=/], // Mallory's token, with Vera's userinfo
    ] as const) {
      company.person = { sub, email: "mallory@example.com", email_verified: true, name: "Mallory" };
      company.userInfo = vera;
      const browser = new Browser(gateway.url);
      expect(await signInWithCompany(browser)).toMatch(end);
      const { person } = await browser.app("GET /session");
      expect([sub, person?.email]).toEqual([sub, sub === "42" ? "vera@example.com" : undefined]);
    }
  } finally {
    company.userInfo = null;
  }
});

test("a company token without an expiry opens nothing", async () => {
  company.person = { sub: "42", email: "vera@example.com", email_verified: true, name: "Vera" };
  company.tokensEnd = false;
  try {
    const browser = new Browser(gateway.url);
    expect(await signInWithCompany(browser)).toMatch(/^302 \/sign-in\?error=/);
    expect((await browser.app("GET /session")).person).toBeNull();
  } finally {
    company.tokensEnd = true;
  }
});

for (const state of ["down", "hanging"] as const)
  test(`a service that is ${state} when the gateway starts delays nothing else, and is asked again when somebody signs in`, async () => {
    const late = await startCompany("tollgate");
    late.state = state;
    const { discoveryUrl } = late;
    const early = await startGateway({
      configure: (config) => {
        config.signIn.oidc = [
          { id: "acme", name: "Acme", discoveryUrl, clientId: "tollgate", clientSecret: "s" },
        ];
      },
    });
    try {
      await firstOperator(early);
      if (state === "down") expect((await beginWithCompany(new Browser(early.url))).status).toBe(404);
      late.state = "up";
      expect((await beginWithCompany(new Browser(early.url))).status).toBe(200);
    } finally {
      await early.stop();
      await late.stop();
    }
  });

test("nobody gets in with a token they bring along, only by going to the company and back", async () => {
  company.person = { sub: "42", email: "vera@example.com", email_verified: true, name: "Vera" };
  const browser = new Browser(gateway.url);
  const sent = await browser.send<{ error: { code: string; param: string } }>(
    "POST",
    "/auth/sign-in/social",
    {
      provider: "acme",
      idToken: { token: await company.idToken("chosen"), nonce: "chosen" },
    },
  );
  expect([sent.status, sent.json.error?.code, sent.json.error?.param]).toEqual([
    400,
    "unknown_parameter",
    "idToken",
  ]);
  expect((await browser.app("GET /session")).person).toBeNull();
});

test("a return that belongs to no sign-in ends on the sign-in page, with the reason", async () => {
  for (const query of ["?code=x&state=unknown", "?code=x", ""]) {
    const browser = new Browser(gateway.url);
    const ended = await browser.send("GET", `/auth/callback/acme${query}`);
    expect([query, ended.status, ended.headers.get("location")]).toEqual([
      query,
      302,
      expect.stringMatching(/^\/sign-in\?error=[a-z_]+$/) as string,
    ]);
  }
});

test("over https the session's cookie is bound to this host and never sent in the clear", async () => {
  const secure = await startGateway({
    configure: (config) => (config.publicUrl = "https://gate.example.com"),
  });
  try {
    expect(secure.signInLink).toStartWith("https://gate.example.com/welcome#token=");
    const browser = new Browser(secure.url, "https://gate.example.com");
    const token = secure.signInLink?.split("#token=")[1];
    const answer = await browser.try(
      "POST /welcome",
      {},
      { token, name: "R", email: "r@example.com", password: PASSWORD },
    );
    const [cookie = ""] = answer.headers.getSetCookie();
    expect(cookie).toStartWith("__Host-tollgate.session_token=");
    expect(cookie).toMatch(/; Secure/);
    expect(cookie).toMatch(/; Path=\/(;|$)/);
    expect(cookie).not.toMatch(/domain/i);
    expect((await browser.app("GET /session")).ways.passkey).toBe(true);
    const options = await browser.send<{ rp: { id: string } }>(
      "GET",
      "/auth/passkey/generate-register-options",
    );
    expect(options.json.rp.id).toBe("gate.example.com");
  } finally {
    await secure.stop();
  }
});

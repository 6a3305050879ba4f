// A code of an authenticator app works once, for one purpose (RFC 6238 §5.2): reading it over a shoulder, or in a
// proxy's log, is too late.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Answer, Browser, firstOperator, PASSWORD } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { codeOf, nextCodeOf, STEP_MS } from "../support/totp.ts";

let gateway: TestGateway;
let root: Browser;
let uri: string;

beforeAll(async () => {
  gateway = await startGateway({ configure: (config) => (config.signIn.perMinute = 1000) });
  root = await firstOperator(gateway);
  // All codes of these tests are those of one step and its neighbours.
  const left = STEP_MS - (Date.now() % STEP_MS);
  if (left < 10_000) await Bun.sleep(left);
}, 120_000);
afterAll(() => gateway.stop());

type Verified = Answer<{ error?: { code: string } }>;
const verify = (browser: Browser, code: string): Promise<Verified> =>
  browser.send("POST", "/auth/two-factor/verify-totp", { code });
const outcome = ({ status, json }: Verified): [number, string | undefined] => [status, json.error?.code];

/** Past the password, before the code. */
async function halfway(): Promise<Browser> {
  const browser = new Browser(gateway.url);
  const account = { email: "root@example.com", password: PASSWORD };
  await browser.send("POST", "/auth/sign-in/email", account);
  return browser;
}

test("the code that set up the second factor signs nobody in", async () => {
  const enabled = await root.send<{ totpURI: string }>("POST", "/auth/two-factor/enable", {
    password: PASSWORD,
  });
  uri = enabled.json.totpURI;
  const code = codeOf(uri);
  expect((await verify(root, code)).status).toBe(200);
  const thief = await halfway();
  expect(outcome(await verify(thief, code))).toEqual([401, "code_used"]);
  expect((await thief.app("GET /session")).person).toBeNull();
});

test("of two concurrent uses of one code one gets in; the other may try the next code", async () => {
  const [a, b] = [await halfway(), await halfway()];
  const code = nextCodeOf(uri);
  const answers = await Promise.all([a, b].map((browser) => verify(browser, code)));
  expect(answers.map(outcome).toSorted(([x], [y]) => x - y)).toEqual([
    [200, undefined],
    [401, "code_used"],
  ]);
  const late = answers[0]?.status === 200 ? b : a;
  expect((await late.app("GET /session")).person).toBeNull();
  // Not a wrong code: the sign-in stays open, and no attempt is used up.
  for (let i = 0; i < 6; i++) expect(outcome(await verify(late, code))).toEqual([401, "code_used"]);
  expect(outcome(await verify(late, "000000"))).toEqual([401, "invalid_code"]);
  expect((await verify(late, codeOf(uri, Date.now() - STEP_MS))).status).toBe(200);
  expect((await late.app("GET /session")).person?.name).toBe("Root");
});

test("a wrong code and none at all are refused as before", async () => {
  const browser = await halfway();
  for (const code of ["000000", "", "12345678901234567890", "abcdef"])
    expect((await verify(browser, code)).status).toBe(401);
  const bare = await browser.send("POST", "/auth/two-factor/verify-totp", {});
  expect(bare.status).toBe(400);
  const nobody = await verify(new Browser(gateway.url), codeOf(uri));
  expect(nobody.status).toBe(401);
});

test("no device skips the second factor, by any way of signing in", async () => {
  for (const path of ["verify-totp", "verify-backup-code"]) {
    const browser = await halfway();
    const body = { code: "000000", trustDevice: true };
    const answer = await browser.send<{ error: { code: string; param: string } }>(
      "POST",
      `/auth/two-factor/${path}`,
      body,
    );
    expect([answer.status, answer.json.error.code, answer.json.error.param]).toEqual([
      400,
      "unknown_parameter",
      "trustDevice",
    ]);
  }
});

// Invitations by email: what a stranger is sent, how often, and what the inviter is told about it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { stoppedClock } from "../support/clock.ts";
import { Browser, firstOperator, newMember, signInAgain, tokenOf } from "../support/browser.ts";
import { type Customer, startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import type { Config } from "../../src/config/config.ts";
import { type MailReceiver, startMailServer } from "./mail-server.ts";

let server: MailReceiver;
let gateway: TestGateway;
let customer: Customer;
let root: Browser;
let ada: Browser;

const mailsBy =
  ({ port }: MailReceiver) =>
  (config: Config): void => {
    config.publicUrl = "https://gate.example";
    config.mail = {
      host: "localhost",
      port,
      security: "none",
      signIn: null,
      from: { address: "gate@gate.example", name: "Tollgate" },
    };
  };

beforeAll(async () => {
  server = await startMailServer();
  gateway = await startGateway({
    configure: mailsBy(server),
  });
  root = await firstOperator(gateway);
  customer = await gateway.customer({ usd: "10" });
  ada = await newMember(root, gateway, { ...org(), role: "owner", email: "ada@acme.example" });
});
afterAll(async () => {
  await gateway.stop();
  await server.stop();
});
beforeEach(() => {
  Object.assign(server, { answers: {}, arrived: [], heard: [] });
});

const org = () => ({ org: customer.organizationId });
const invite = (email: string) =>
  ada.app("POST /orgs/{org}/invitations", org(), { email, role: "developer" });
const opens = async (link: string | null) =>
  (await new Browser(gateway.url).try("POST /invitations/show", {}, { token: tokenOf(link) })).status === 200;

/** The link in the text of an email. */
const linkIn = (text: string | undefined): string =>
  /https:\/\/gate\.example\/\S+#token=\S+/.exec(text ?? "")?.[0] ?? "no link";

test("an invitation is one email with a link, the sender, and the organization; the dialog shows a link, too", async () => {
  const made = await invite("bob@elsewhere.example");
  expect(made.mail).toEqual({ state: "sent", reason: null });
  expect(made.link).toStartWith("https://gate.example/invitation#token=");
  expect(server.arrived).toHaveLength(1);
  const [mail] = server.arrived;
  expect(mail).toMatchObject({ from: "gate@gate.example", to: ["bob@elsewhere.example"] });
  expect(mail?.headers.get("Subject")).toBe("You are invited to an organization");
  expect(mail?.text).toStartWith("ada@acme.example invites you to the organization ");
  expect(mail?.text).toContain(` as developer.\r\n\r\nAccept it here: ${made.link}.`);
  expect([await opens(made.link), await opens(linkIn(mail?.text))]).toEqual([true, true]);
  const operator = await root.app("POST /operator/people", {}, { email: "carol@elsewhere.example" });
  expect(operator.mail).toEqual({ state: "sent", reason: null });
  expect(server.arrived[1]?.text).toStartWith("root@example.com invites you to operate this gateway.");
  expect(server.arrived[1]?.text).toContain(operator.link ?? "no link");
});

test("joining by the email's link proves the address; joining by the link that was shown proves nothing", async () => {
  const mailbox = async (email: string, link: string | null): Promise<string> => {
    const account = { name: "Somebody", password: "a password of theirs" };
    const token = tokenOf(link);
    await new Browser(gateway.url).app("POST /invitations/accept", {}, { token, account });
    const asked = { kind: "mail", name: email, target: email };
    const { status, json } = await ada.try("POST /orgs/{org}/alerts/channels", org(), asked);
    return status === 201 ? "written to" : json.error.message;
  };
  const shown = await invite("shown@elsewhere.example");
  expect(await mailbox("shown@elsewhere.example", shown.link)).toContain(
    "must be verified by its member first",
  );
  const forged = await invite("forged@elsewhere.example");
  expect(await mailbox("forged@elsewhere.example", `${forged.link}.${"A".repeat(43)}`)).toContain(
    "must be verified",
  );
  await invite("mailed@elsewhere.example");
  const link = linkIn(server.arrived.at(-1)?.text);
  expect(await mailbox("mailed@elsewhere.example", link)).toBe("written to");
  // A link for a new password is sent to the address, too.
  const { data } = await root.app("GET /operator/people", {}, undefined, "?search=shown%40elsewhere");
  const { link: reset } = await root.app(
    "POST /operator/people/{person}/reset",
    { person: data[0]?.person.id ?? "" },
    {},
  );
  const body = { token: tokenOf(reset), password: "a new password" };
  await new Browser(gateway.url).app("POST /reset", {}, body);
  const again = { kind: "mail", name: "Again", target: "shown@elsewhere.example" };
  expect((await ada.try("POST /orgs/{org}/alerts/channels", org(), again)).status).toBe(201);
});

test("a refusal by the mail server is reported, and the link works anyway", async () => {
  server.answers = { RCPT: "550 5.1.1 no such user" };
  const made = await invite("typo@elsewhere.example");
  expect(made.mail).toEqual({
    state: "not_sent",
    reason: "The mail server answered: 550 5.1.1 no such user",
  });
  expect(server.arrived).toEqual([]);
  expect(await opens(made.link)).toBe(true);
  server.answers = { greeting: "421 4.3.2 shutting down" };
  expect((await invite("dora@elsewhere.example")).mail?.state).toBe("not_sent");
  // Nothing that opens an invitation is queued anywhere for a retry.
  expect(await gateway.rowsOf("alert_delivery")).toEqual([]);
});

test("a link for a new password goes to the address of its account, and is shown whatever happens to the email", async () => {
  const { data } = await root.app("GET /operator/people", {});
  const person = data.find(({ email }) => email === "ada@acme.example")?.person.id ?? "";
  const reset = (two_factor: boolean) =>
    root.app("POST /operator/people/{person}/reset", { person }, { two_factor });
  const made = await reset(true);
  expect(made).toMatchObject({ email: "ada@acme.example", mail: { state: "sent", reason: null } });
  const [mail] = server.arrived;
  expect(mail).toMatchObject({ from: "gate@gate.example", to: ["ada@acme.example"] });
  expect(mail?.headers.get("Subject")).toBe("A new password for your account");
  expect(mail?.text).toContain("Its second factor was turned off, and its passkeys were removed.");
  expect(mail?.text).toContain(`\r\nSet the password here: ${made.link}\r\n`);
  server.answers = { RCPT: "550 5.1.1 no such user" };
  const again = await reset(false);
  expect(again.link).toStartWith("https://gate.example/reset#token=");
  expect(again.mail).toEqual({
    state: "not_sent",
    reason: "The mail server answered: 550 5.1.1 no such user",
  });
  expect(server.arrived).toHaveLength(1);
});

test("a name cannot create a web address, a header or a line of its own", async () => {
  const name =
    "Pay\u2028at https://evil.example/x?y=1 <b>now</b> or mail me@evil.example 鍵 " + "z".repeat(60);
  const { version } = await ada.app("GET /orgs/{org}/settings", org());
  await ada.app("PATCH /orgs/{org}/settings", org(), { name, version });
  await invite("eve@elsewhere.example");
  const [first = ""] = server.arrived[0]?.text.split("\r\n") ?? [];
  const shown = first.slice(first.indexOf('"') + 1, first.lastIndexOf('"'));
  expect(shown).toStartWith("Pay at https evil example x y 1 b now b or mail me evil exam");
  expect(Array.from(shown)).toHaveLength(60);
  expect([...(server.arrived[0]?.headers.values() ?? [])].join(" ")).not.toContain("evil");
});

test("an address gets three emails a day from an organization, and a form that is sent twice sends one", async () => {
  const form = { headers: { "idempotency-key": "invite-frank" } };
  const asked = { email: "frank@elsewhere.example", role: "viewer" };
  const twice = [
    await ada.try("POST /orgs/{org}/invitations", org(), asked, form),
    await ada.try("POST /orgs/{org}/invitations", org(), asked, form),
  ].map(({ status, json }) => [status, (json as unknown as { link: string | null }).link !== null]);
  expect(twice).toEqual([
    [201, true],
    [201, false],
  ]);
  expect(server.arrived).toHaveLength(1);
  const states = [];
  for (let time = 2; time <= 4; time += 1) states.push((await invite("FRANK@elsewhere.example")).mail);
  expect(states.map((mail) => mail?.state)).toEqual(["sent", "sent", "not_sent"]);
  expect(states[2]?.reason).toMatch(/3 mails a day/);
  expect(server.arrived).toHaveLength(3);
});

describe.each(STORES)("on %s", (store) => {
  test("an account gets three emails a day with a link for a new password; the fourth link is only on the screen", async () => {
    const clock = stoppedClock();
    const own = await startGateway({ store, clock, configure: mailsBy(server) });
    try {
      const operator = await firstOperator(own);
      const { id: at } = await operator.app("POST /operator/organizations", {}, { name: "Acme" });
      const person = async (email: string) => {
        const member = await newMember(operator, own, { org: at, role: "viewer", email });
        return (await member.app("GET /session")).person?.id ?? "";
      };
      const [gil, hal] = [await person("gil@acme.example"), await person("hal@acme.example")];
      server.arrived = [];
      const reset = (of: string) =>
        operator.app("POST /operator/people/{person}/reset", { person: of }, { two_factor: false });
      const states = [];
      for (let time = 1; time <= 3; time += 1) states.push((await reset(gil)).mail?.state);
      expect(states).toEqual(["sent", "sent", "sent"]);
      const fourth = await reset(gil);
      expect(fourth.mail).toEqual({
        state: "not_sent",
        reason: "This address can be sent at most 3 mails a day. Pass the link on yourself.",
      });
      expect(server.arrived).toHaveLength(3);
      const body = { token: tokenOf(fourth.link), password: "a new password" };
      expect((await new Browser(own.url).try("POST /reset", {}, body)).status).toBe(200);
      expect((await reset(hal)).mail?.state).toBe("sent");
      clock.advance(86_400_001);
      await signInAgain(operator);
      expect((await reset(gil)).mail?.state).toBe("sent");
    } finally {
      await own.stop();
    }
  });
});

// Alerts by email as stories: a mail server that accepts, refuses, hangs and lies; who may get email, and until when.
// Rounds are run by hand; the clock is the test's.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { Writable } from "node:stream";
import { Mailer } from "../../src/alerts/mail/mailer.ts";
import { PAUSES_MS } from "../../src/alerts/deliver.ts";
import { createLog } from "../../src/lib/log.ts";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { trustAnyone } from "../support/certificate.ts";
import { testClock } from "../support/clock.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { type MailReceiver, startMailServer } from "./mail-server.ts";
import { waitFor } from "../support/wait.ts";

const MAILBOX = "ada@acme.example";
const PASSWORD = "smtp-secret-7Qd3";
const clock = testClock();
const logged: string[] = [];
let server: MailReceiver;
let gateway: TestGateway;
let customer: Customer;
let root: Browser;
let ada: Browser;
let channel: string;

const security = { now: "none" as "none" | "starttls" | "tls" };
beforeAll(async () => {
  clock.set("2031-03-10T10:00:00Z");
  server = await startMailServer();
  const log = createLog(
    "warn",
    new Writable({
      write(line: Buffer, _, done) {
        logged.push(line.toString());
        done();
      },
    }),
  );
  gateway = await startGateway({
    clock,
    log,
    configure: (config) => {
      config.publicUrl = "https://gate.example";
      config.signIn.perMinute = 1000;
      config.mail = {
        host: "localhost",
        port: server.port,
        get security() {
          return security.now;
        },
        signIn: { user: "gate", password: PASSWORD },
        from: { address: "alerts@gate.example", name: "Tollgate" },
      };
    },
  });
  root = await firstOperator(gateway);
  customer = await gateway.customer({ usd: "10" });
  ada = await newMember(root, gateway, { org: customer.organizationId, role: "owner", email: MAILBOX });
});
afterAll(async () => {
  await gateway.stop();
  await server.stop();
});
beforeEach(async () => {
  Object.assign(server, { answers: {}, arrived: [], heard: [], password: `gate:${PASSWORD}` });
  security.now = "none";
  logged.length = 0;
  ({ id: channel } = await add("Night shift", MAILBOX));
});
afterEach(async () => {
  await ada.app("DELETE /orgs/{org}/alerts/channels/{channel}", { ...org(), channel });
});

const org = () => ({ org: customer.organizationId });
const add = (name: string, target: string) =>
  ada.app("POST /orgs/{org}/alerts/channels", org(), { kind: "mail", name, target });
/** Leftovers of earlier stories take their turn, too: a round has five messages of an organization. */
const deliver = async () => {
  for (let round = 0; round < 4; round += 1) await gateway.alerts.deliver();
};
const sendTest = () => ada.app("POST /orgs/{org}/alerts/channels/{channel}/test", { ...org(), channel });
const found = async () => {
  const { data } = await ada.app("GET /orgs/{org}/alerts/deliveries", org());
  return data.find((delivery) => delivery.channel === channel);
};
/** The newest delivery, once its outcome is known: a round of the gateway's own may have been first to try it. */
const sent = async () => {
  await waitFor(async () => {
    const delivery = await found();
    return delivery?.status !== null || delivery.reason !== null;
  }, "what came of it");
  return await found();
};

test("a crossing is one email: the sender, what crossed, where to look", async () => {
  expect((await ada.app("GET /orgs/{org}/alerts/channels", org())).mail).toBe(true);
  const rule = { kind: "balance_below", amount_usd: "20", channels: [channel], on: true };
  const { id } = await ada.app("POST /orgs/{org}/alerts/rules", org(), rule);
  await gateway.alerts.watch((error) => expect(error).toBeNull());
  await deliver();
  await deliver();
  await ada.app("DELETE /orgs/{org}/alerts/rules/{rule}", { ...org(), rule: id });
  expect(server.arrived).toHaveLength(1);
  const [mail] = server.arrived;
  expect(mail).toMatchObject({ from: "alerts@gate.example", to: [MAILBOX], signedIn: `gate:${PASSWORD}` });
  expect(mail?.headers.get("Subject")).toBe("The balance is $10.00, below $20.00.");
  expect(mail?.headers.get("From")).toBe("Tollgate <alerts@gate.example>");
  const delivery = await sent();
  expect(mail?.headers.get("Message-ID")).toBe(`<${delivery?.id}@gate.example>`);
  expect(mail?.text).toContain("The balance is $10.00, below $20.00.\r\n\r\n2031-03-10 10:00 UTC");
  expect(mail?.text).toContain(`https://gate.example/o/${customer.organizationId}/alerts`);
  expect(mail?.text).toContain('"Night shift"');
  expect(delivery).toMatchObject({ state: "delivered", status: 250, reason: null });
});

test("only members get email; those who leave get no more", async () => {
  for (const target of ["stranger@elsewhere.example", "root@example.com", "no address", ""]) {
    const asked = { kind: "mail", name: "x", target };
    const { status, json } = await ada.try("POST /orgs/{org}/alerts/channels", org(), asked);
    expect([target, status, json.error.code]).toEqual([target, 400, "invalid_request"]);
  }
  await newMember(root, gateway, { ...org(), role: "viewer", email: "bob@acme.example" });
  const { id } = await add("Bob", "bob@acme.example");
  const { data } = await ada.app("GET /orgs/{org}/team", org());
  const bob = data.find(({ email }) => email === "bob@acme.example")?.person.id ?? "";
  server.heard = [];
  await ada.app("DELETE /orgs/{org}/team/{member}", { ...org(), member: bob });
  const delivery = await ada.app("POST /orgs/{org}/alerts/channels/{channel}/test", {
    ...org(),
    channel: id,
  });
  await deliver();
  expect(server.heard).toEqual([]);
  expect(await gateway.alerts.outbox.find(customer.organizationId, delivery.id)).toMatchObject({
    state: "failed",
    error: "No member of the organization has this address any more.",
  });
});

test("an address with a second one, a header or a command in it is no address", async () => {
  for (const target of [
    `${MAILBOX}\r\nBcc: eve@evil.example`,
    `${MAILBOX}, eve@evil.example`,
    `<${MAILBOX}> NOTIFY=SUCCESS`,
    `"${MAILBOX}"@evil.example`,
    `${MAILBOX}\u0000`,
    `ada@acme.example>\r\nRCPT TO:<eve@evil.example`,
  ])
    expect(
      (await ada.try("POST /orgs/{org}/alerts/channels", org(), { kind: "mail", name: "x", target })).status,
    ).toBe(400);
  // If a row was changed behind the gateway's back, the line is not sent to the server either.
  await gateway.tamper(
    "UPDATE alert_channel SET target = 'ada@acme.example>' || char(13) || char(10) || 'RCPT TO:<eve@evil.example' WHERE channel_id = ?1".replaceAll(
      "char(",
      process.env["TOLLGATE_TEST_STORE"] === "postgres" ? "chr(" : "char(",
    ),
    channel,
  );
  await sendTest();
  await deliver();
  expect(await sent()).toMatchObject({ state: "failed", reason: expect.stringContaining("damaged") });
  expect(server.heard).toEqual([]);
});

test("what waits says why and until when, in the server's own words", async () => {
  server.answers = { RCPT: "421 4.3.2 shutting down for <ada@acme.example>" };
  await sendTest();
  await deliver();
  expect(await sent()).toMatchObject({
    state: "waiting",
    tries: 1,
    status: 421,
    reason: "The mail server answered: 421 4.3.2 shutting down for <[mail]>",
    next_try_at: expect.stringMatching(/^2031-03-10T10:00:/),
  });
  server.answers = {};
  clock.advance((PAUSES_MS[0] ?? 0) + 1);
  await deliver();
  expect(await sent()).toMatchObject({ state: "delivered", tries: 2, status: 250, reason: null });
});

test.each([
  ["a mailbox that does not exist", { RCPT: "550 5.1.1 no such user" }, "failed", /550 5.1.1 no such user/],
  ["a message that is not wanted", { content: "554 5.7.1 spam" }, "failed", /554 5.7.1 spam/],
  ["a server that does not take our sender", { MAIL: "553 5.7.1 not you" }, "waiting", /553/],
  ["a server that greets with a refusal", { greeting: "554 5.3.2 go away" }, "waiting", /554/],
  [
    "a server that forgot our password",
    { AUTH: "535 5.7.8 bad password" },
    "waiting",
    /name and password \(535\)/,
  ],
  [
    "a server that speaks another protocol",
    { greeting: "HTTP/1.1 400 Bad Request" },
    "waiting",
    /mail server/,
  ],
] as const)("%s", async (_, answers, state, reason) => {
  server.answers = { ...answers };
  await sendTest();
  await deliver();
  expect(await sent()).toMatchObject({ state, reason: expect.stringMatching(reason) });
  expect(server.arrived).toEqual([]);
  // A failure that is no recipient's fault is reported to the operator.
  expect(logged.filter((line) => line.includes("alerts_mail"))).toHaveLength(state === "waiting" ? 1 : 0);
});

test("the password goes to a server that is who it says it is, encrypted, and nowhere else", async () => {
  security.now = "starttls";
  await sendTest();
  await deliver();
  expect((await sent())?.reason).toMatch(/certificate or encryption cannot be trusted/);
  server.answers = { STARTTLS: "454 4.7.0 not now" };
  clock.advance((PAUSES_MS[0] ?? 0) + 1);
  await deliver();
  expect((await sent())?.reason).toMatch(/454 4.7.0 not now/);
  expect(server.heard.filter((line) => line.startsWith("AUTH") || line.startsWith("MAIL"))).toEqual([]);
  server.answers = {};
  const trust = trustAnyone();
  clock.advance((PAUSES_MS[1] ?? 0) + 1);
  await deliver();
  trust.restore();
  expect(await sent()).toMatchObject({ state: "delivered", tries: 3 });
  expect(server.arrived[0]).toMatchObject({ encrypted: true, signedIn: `gate:${PASSWORD}` });
  expect(
    JSON.stringify([logged, await gateway.rowsOf("alert_delivery"), await gateway.rowsOf("alert_attempt")]),
  ).not.toContain(PASSWORD);
});

test.each([
  ["hangs before it greets", { greeting: "" }],
  ["hangs with the mail in its hands", { content: "" }],
  ["never ends an answer", { EHLO: "250-and so on" }],
])("a server that %s costs a mail its time, all that wait for one turn together", async (_, answers) => {
  server.answers = answers;
  const failures: unknown[] = [];
  const slow = new Mailer(
    {
      host: "127.0.0.1",
      port: server.port,
      security: "none",
      signIn: null,
      from: { address: "a@b.example", name: "x" },
    },
    (error) => failures.push(error),
    1_000,
  );
  const began = performance.now();
  const mail = { id: "msg_1", to: MAILBOX, subject: "s", text: "t", atMs: 0 };
  const all = await Promise.all(Array.from({ length: 20 }, () => slow.send(mail)));
  expect(performance.now() - began).toBeLessThan(10_000); // one after the other it would be twenty seconds
  const error = "The mail server did not answer within 1 seconds.";
  expect(all).toEqual(all.map(() => ({ kind: "failed", status: null, error })));
  expect(failures).toHaveLength(20);
});

// The `param` of a refusal is a field that the caller sent, by its name in that API; `test/support/told.ts` checks
// this in every other test, too.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Browser, firstOperator, newMember, PASSWORD, tokenOf } from "../support/browser.ts";
import type { ErrorJson } from "../support/events.ts";
import { hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";

let gateway: TestGateway;
let root: Browser;
let owner: Browser;
let admin: Browser;
let org: string;

beforeAll(async () => {
  gateway = await startGateway();
  root = await firstOperator(gateway);
  org = (await root.app("POST /operator/organizations", {}, { name: "Lab" })).id;
  owner = await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
  admin = await newMember(root, gateway, { org, role: "admin", email: "ada@example.com" });
});
afterAll(() => gateway.stop());

const HUGE = "9223372036";
const NO_REQUEST = "req_00000000000000000000000000000000";
const paramOf = ({ json }: { json: ErrorJson | { error: object } }): string | null =>
  (json as ErrorJson).error.param;

test("amounts of credits: `amount_usd` of a form, `usd` of a script", async () => {
  const grant = { org, kind: "grant", reference: "first" };
  const reason = "test";
  await root.app("POST /operator/credits", {}, { ...grant, amount_usd: "1", reason });
  for (const amount of ["0", HUGE]) {
    const again = { ...grant, reference: `of ${amount}` };
    const form = { ...again, amount_usd: amount, reason };
    expect([amount, paramOf(await root.try("POST /operator/credits", {}, form))]).toEqual([
      amount,
      "amount_usd",
    ]);
    const byKey = await gateway.admin<ErrorJson>("POST", "/credits", { ...again, usd: amount });
    expect([amount, paramOf(byKey)]).toEqual([amount, "usd"]);
  }
});

test("amounts of refunds: nothing or more than was charged, likewise", async () => {
  const customer = await gateway.customer();
  const { json } = await gateway.chat<{ gateway: { request_id: string } }>(customer, hello(PLAIN.model));
  const request = json.gateway.request_id;
  for (const amount of ["0", "5"]) {
    const reference = `back ${amount}`;
    const form = { request, amount_usd: amount, reference, reason: "test" };
    expect([amount, paramOf(await root.try("POST /operator/refunds", {}, form))]).toEqual([
      amount,
      "amount_usd",
    ]);
    const byKey = await gateway.admin<ErrorJson>("POST", "/credits/refund", {
      request,
      usd: amount,
      reference,
    });
    expect([amount, paramOf(byKey)]).toEqual([amount, "usd"]);
  }
});

test("a request that is not in quarantine: `request` of a page, `id` of a script", async () => {
  const decision = { charge_usd: null, reason: "test" };
  const request = { request: NO_REQUEST };
  const page = await root.try("POST /operator/quarantine/{request}/resolve", request, decision);
  expect([page.status, paramOf(page)]).toEqual([404, "request"]);
  const path = `/ledger/quarantine/${NO_REQUEST}/resolve`;
  const byKey = await gateway.admin<ErrorJson>("POST", path, decision);
  expect([byKey.status, paramOf(byKey)]).toEqual([404, "id"]);
});

test("members: a person who may not be removed is the `member`, a role is named as it was sent, and leaving names nobody", async () => {
  const { id } = (await owner.app("GET /session")).person ?? { id: "nobody" };
  const at = { org, member: id };
  const version = (await owner.app("GET /orgs/{org}/team", { org })).data.find(
    (member) => member.person.id === id,
  )?.version;
  const removed = await admin.try("DELETE /orgs/{org}/team/{member}", at);
  expect([removed.status, paramOf(removed)]).toEqual([403, "member"]);
  const lowered = await admin.try("PATCH /orgs/{org}/team/{member}", at, { role: "viewer", version });
  expect([lowered.status, paramOf(lowered)]).toEqual([403, "role"]);
  const stranger = await root.try("POST /orgs/{org}/leave", { org });
  expect([stranger.status, paramOf(stranger)]).toEqual([404, "org"]);
  const left = await owner.try("POST /orgs/{org}/leave", { org });
  expect([left.status, paramOf(left)]).toEqual([409, null]);
  const alone = await owner.try("PATCH /orgs/{org}/team/{member}", at, { role: "viewer", version });
  expect([alone.status, paramOf(alone)]).toEqual([409, "member"]);
});

test("invitations: the address of the invited person, the token of an acceptance, the withdrawn invitation", async () => {
  const invite = async (by: Browser, email: string, role: string) =>
    await by.try("POST /orgs/{org}/invitations", { org }, { email, role });
  expect(paramOf(await invite(admin, "olga@example.com", "viewer"))).toBe("email");
  const opened = await owner.app(
    "POST /orgs/{org}/invitations",
    { org },
    { email: "otto@example.com", role: "owner" },
  );
  const replaced = await invite(admin, "otto@example.com", "viewer");
  expect([replaced.status, paramOf(replaced)]).toEqual([403, "email"]);
  const [open] = (await owner.app("GET /orgs/{org}/invitations", { org })).data;
  const one = { org, invitation: open?.id ?? "" };
  const withdrawn = await admin.try("DELETE /orgs/{org}/invitations/{invitation}", one);
  expect([withdrawn.status, paramOf(withdrawn)]).toEqual([403, "invitation"]);
  const visitor = new Browser(gateway.url);
  const token = tokenOf(opened.link);
  const account = { name: "Otto", password: PASSWORD };
  await visitor.app("POST /invitations/accept", {}, { token, account });
  const again = await visitor.try("POST /invitations/accept", {}, { token });
  expect([again.status, paramOf(again)]).toEqual([404, "token"]);
});

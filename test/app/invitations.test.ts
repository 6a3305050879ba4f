// One open invitation per address: inviting again makes a new link, and only that one works.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Browser, firstOperator, newMember, PASSWORD, tokenOf } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
let root: Browser;
let owner: Browser;
let org: string;

beforeAll(async () => {
  gateway = await startGateway({ configure: (config) => (config.signIn.perMinute = 1000) });
  root = await firstOperator(gateway);
  org = (await root.app("POST /operator/organizations", {}, { name: "Acme" })).id;
  owner = await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
});
afterAll(() => gateway.stop());

const invite = (email: string, role = "viewer", at = org) =>
  root.app("POST /operator/organizations/{org}/invitations", { org: at }, { email, role });
const show = async (link: string | null): Promise<number> =>
  (await new Browser(gateway.url).try("POST /invitations/show", {}, { token: tokenOf(link) })).status;
const statesOf = async (email: string): Promise<string[]> =>
  (await owner.app("GET /orgs/{org}/invitations", { org })).data
    .filter((invitation) => invitation.email === email)
    .map(({ state }) => state)
    .toSorted();

test("an address that is invited again has a new link, with the new role; the old link is dead", async () => {
  const other = (await root.app("POST /operator/organizations", {}, { name: "Other" })).id;
  const elsewhere = await invite("ann@example.com", "viewer", other);
  const neighbour = await invite("bob@example.com");
  const first = await invite("ann@example.com", "viewer");
  const second = await owner.app(
    "POST /orgs/{org}/invitations",
    { org },
    { email: "Ann@Example.com", role: "admin" },
  );
  expect(await statesOf("ann@example.com")).toEqual(["open", "withdrawn"]);
  expect(await Promise.all([first, second, neighbour, elsewhere].map(({ link }) => show(link)))).toEqual([
    404, 200, 200, 200,
  ]);
  const account = { name: "Ann", password: PASSWORD };
  const ann = new Browser(gateway.url);
  const late = await ann.try("POST /invitations/accept", {}, { token: tokenOf(first.link), account });
  expect([late.status, late.json.error.code]).toEqual([404, "not_found"]);
  const session = await ann.app("POST /invitations/accept", {}, { token: tokenOf(second.link), account });
  expect(session.person?.memberships).toMatchObject([{ org, role: "admin" }]);
  expect(await statesOf("ann@example.com")).toEqual(["accepted", "withdrawn"]);
});

test("an operator who is invited again has one open link, too", async () => {
  const to = { email: "second@example.com" };
  const first = await root.app("POST /operator/people", {}, to);
  const second = await root.app("POST /operator/people", {}, to);
  expect([await show(first.link), await show(second.link)]).toEqual([404, 200]);
});

test("operators see who is invited as one, by whom and until when, and can withdraw it; never the link", async () => {
  const made = await root.app("POST /operator/people", {}, { email: "third@example.com" });
  const listed = async (id: string) =>
    (await root.app("GET /operator/invitations")).data.find((one) => one.id === id);
  const { link: _, mail: __, ...shown } = made;
  expect(await listed(made.id)).toEqual(shown);
  expect(shown).toMatchObject({ invited_by: { name: "Root" }, state: "open" });
  const toOrganization = await invite("viewer@example.com");
  expect(await listed(toOrganization.id)).toBeUndefined();
  const other = await root.try("DELETE /operator/invitations/{invitation}", {
    invitation: toOrganization.id,
  });
  expect([other.status, await show(toOrganization.link)]).toEqual([404, 200]);

  await root.app("DELETE /operator/invitations/{invitation}", { invitation: made.id });
  expect([(await listed(made.id))?.state, await show(made.link)]).toEqual(["withdrawn", 404]);
  const audit = await root.app("GET /operator/audit", {}, undefined, "?action=operator.uninvite");
  expect(audit.data.map(({ target }) => target)).toEqual([made.id]);
});

test("of concurrent invitations one is open", async () => {
  const made = await Promise.all(Array.from({ length: 6 }, () => invite("carl@example.com")));
  expect((await statesOf("carl@example.com")).filter((state) => state === "open")).toEqual(["open"]);
  const answers = await Promise.all(made.map(({ link }) => show(link)));
  expect(answers.filter((status) => status === 200)).toHaveLength(1);
});

// Logging in the command line: a real `tollgate login` in a terminal, its code in a real browser, and what a person
// sees who is no operator, who types a wrong code, or whose sign-in is too old.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { hostname } from "node:os";
import { readFileSync } from "node:fs";
import { path } from "../../dashboard/path-builder.ts";
import { deviceTexts as words } from "../../dashboard/pages/device/texts.ts";
import { operatorPeopleTexts } from "../../dashboard/pages/operator/people/texts.ts";
import { signInTexts } from "../../dashboard/pages/sign-in/texts.ts";
import { stateTexts } from "../../dashboard/components/texts.ts";
import { ageSessions } from "../support/aged-sessions.ts";
import { Browser, newMember, PASSWORD } from "../support/browser.ts";
import { askForCodes, poll } from "../support/device.ts";
import { Terminal } from "../support/terminal.ts";
import { type Dashboard, OPERATOR, startDashboard, type Visitor } from "./dashboard.ts";
import { inspect } from "./inspect.ts";
import { rowsOf, signInBeside } from "./steps.ts";

const MEMBER = "olga@example.com";

let dashboard: Dashboard;
let root: Visitor;
const terminal = new Terminal();

beforeAll(async () => {
  dashboard = await startDashboard();
  const { id: org } = await dashboard.root.app("POST /operator/organizations", {}, { name: "Acme" });
  await newMember(dashboard.root, dashboard.gateway, { org, role: "owner", email: MEMBER });
  root = await dashboard.visitor(OPERATOR);
});
afterAll(async () => {
  await dashboard.stop();
  terminal.close();
});

const press = ({ page }: Visitor, name: string): Promise<void> =>
  page.getByRole("button", { name, exact: true }).click();
const ends = (link: string): string => link.slice(new URL(link).origin.length);

test("a terminal is logged in by its link, operates the gateway, and its key is in the list", async () => {
  const login = await terminal.login(dashboard.gateway.url);
  const stranger = await dashboard.visitor();
  await stranger.page.goto(login.link);
  await stranger.page.waitForURL((url) => url.pathname === path.signIn());
  await stranger.page.getByLabel(signInTexts.email).fill(OPERATOR);
  await stranger.page.getByLabel(signInTexts.password, { exact: true }).fill(PASSWORD);
  await press(stranger, signInTexts.submit);
  await stranger.page.waitForURL((url) => url.pathname + url.search === ends(login.link));
  await stranger.leave();

  await root.open(ends(login.link));
  expect(await root.page.getByLabel(words.code, { exact: true }).inputValue()).toBe(login.userCode);
  await inspect(root, "the code of a terminal");
  await press(root, words.find);
  await root.page.getByRole("cell", { name: hostname(), exact: true }).waitFor();
  await root.page.getByRole("cell", { name: "127.0.0.1", exact: true }).waitFor();
  await root.page.getByText(words.onlyYours).waitFor();
  await inspect(root, "a terminal that asks");
  await press(root, words.approve);
  await root.page.getByRole("status").filter({ hasText: "Approved" }).waitFor();
  await inspect(root, "a terminal that was approved");

  expect((await login.ended).code).toBe(0);
  expect(await terminal.run(["org", "list"])).toMatchObject({
    code: 0,
    out: expect.stringContaining("Acme"),
  });
  await root.page.getByRole("link", { name: words.toKeys }).click();
  const row = rowsOf(root, operatorPeopleTexts.keys).filter({ hasText: `CLI of Root on ${hostname()}` });
  await row.getByText("active").waitFor();
  const secret = /gw_mk_\w+/.exec(readFileSync(terminal.credentials, "utf8"))?.[0] ?? "none";
  expect(await root.page.content()).not.toContain(secret);
  await inspect(root, "the key of a terminal on the page of people");

  expect(await terminal.run(["logout"])).toMatchObject({ code: 0 });
  await root.open(path.operator("people"));
  await row.getByText("revoked").waitFor();
}, 120_000);

test("a code may be typed in any usual form, and an unknown terminal is declined", async () => {
  const { device_code, user_code } = await askForCodes(dashboard.gateway.url, "a stranger's laptop");
  await root.open(path.device());
  await root.page
    .getByLabel(words.code, { exact: true })
    .pressSequentially(` ${user_code.replace("-", " ").toLowerCase()}`);
  await press(root, words.find);
  await root.page.getByText("a stranger's laptop", { exact: true }).waitFor();
  await press(root, words.decline);
  await root.page.getByRole("status").filter({ hasText: words.declined }).waitFor();
  await inspect(root, "a terminal that was declined");
  expect((await poll(dashboard.gateway.url, device_code)).json.error).toBe("access_denied");
});

test("a wrong code is reported and can be corrected", async () => {
  await root.open(`${path.device()}?code=BBBB-BBBB`);
  await press(root, words.find);
  await root.page
    .getByRole("alert")
    .getByText(/No login is waiting with this code/)
    .waitFor();
  await inspect(root, "a code that nobody asked for", { about: /status of 404/ });
  const { user_code } = await askForCodes(dashboard.gateway.url);
  await root.page.getByLabel(words.code, { exact: true }).fill(user_code);
  await press(root, words.find);
  await root.page.getByRole("button", { name: words.approve, exact: true }).waitFor();
  await press(root, words.back);
  await root.page.getByLabel(words.code, { exact: true }).waitFor();
});

test("a member who is no operator is told whom this is for", async () => {
  const olga = await dashboard.visitor(MEMBER);
  const { user_code } = await askForCodes(dashboard.gateway.url);
  await olga.open(`${path.device()}?code=${user_code}`);
  await olga.page.getByText(words.forOperators(MEMBER)).waitFor();
  expect(await olga.page.getByRole("textbox").count()).toBe(0);
  await inspect(olga, "the page of terminals for a member");
  await olga.leave();
});

test("a sign-in of yesterday is asked for again, and the code is still there then", async () => {
  const { user_code } = await askForCodes(dashboard.gateway.url);
  await ageSessions(dashboard.gateway, 13 * 3_600_000);
  const address = `${path.device()}?code=${user_code}`;
  await root.open(address);
  await press(root, words.find);
  await root.page.getByText(stateTexts.signInAgain, { exact: true }).waitFor();
  await inspect(root, "a terminal asks for a newer sign-in", { about: /status of 403/ });
  await signInBeside(root, OPERATOR);
  await press(root, words.find);
  await root.page.getByRole("button", { name: words.approve, exact: true }).waitFor();
});

test("too many wrong codes are reported", async () => {
  const elsewhere = new Browser(dashboard.gateway.url);
  await elsewhere.send("POST", "/auth/sign-in/email", { email: OPERATOR, password: PASSWORD });
  for (let n = 0; n < 10; n++)
    await elsewhere.try("POST /operator/devices/find", {}, { user_code: "BBBBBBBB" });
  await root.open(`${path.device()}?code=BBBB-BBBB`);
  await press(root, words.find);
  await root.page.getByRole("alert").getByText("rate_limit_exceeded").waitFor();
  await inspect(root, "too many codes", { about: /status of 429/ });
});

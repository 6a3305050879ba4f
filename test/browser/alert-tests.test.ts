// Testing an alert channel at the dashboard: the page waits for the outcome and shows it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { path } from "../../dashboard/path-builder.ts";
import { alertsTexts as words } from "../../dashboard/pages/alerts/texts.ts";
import { type Receiver, startReceiver } from "../alerts/receiver.ts";
import { newMember } from "../support/browser.ts";
import { type Dashboard, startDashboard, type Visitor } from "./dashboard.ts";
import { inspect } from "./inspect.ts";
import { newOrganization, rowsOf } from "./steps.ts";

let dashboard: Dashboard;
let olga: Visitor;
let receiver: Receiver;

beforeAll(async () => {
  dashboard = await startDashboard({ configure: (config) => (config.alerts.privateTargets = true) });
  receiver = startReceiver();
  const org = await newOrganization(dashboard, "Acme Robotics");
  const { root, gateway } = dashboard;
  const owner = await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
  const channel = { kind: "webhook", name: "Pager", target: receiver.url };
  await owner.app("POST /orgs/{org}/alerts/channels", { org }, channel);
  olga = await dashboard.visitor("olga@example.com");
  await olga.open(path.organization(org, "alerts"));
});
afterAll(async () => {
  await dashboard.stop();
  await receiver.stop();
});

const came = { name: "Pager", reason: "", late: false };
test.each([
  [204, words.outcomes.delivered({ ...came, status: 204 })],
  [500, words.outcomes.tried_again({ ...came, status: 500, reason: "It answered 500." })],
  [410, words.outcomes.failed({ ...came, status: 410, reason: "It answered 410." })],
])("a test whose receiver answers %d", async (status, said) => {
  receiver.answers = status;
  await rowsOf(olga, words.channels)
    .filter({ hasText: "Pager" })
    .getByRole("button", { name: words.test })
    .click();
  const sending = words.outcomes.unknown({ ...came, status: null });
  await olga.page.getByRole("status").filter({ hasText: sending }).waitFor();
  await olga.page.getByRole("status").filter({ hasText: said }).waitFor();
  // The list below refreshes by itself.
  await rowsOf(olga, words.deliveries)
    .first()
    .getByText(status === 204 ? "204" : `It answered ${status}.`)
    .first()
    .waitFor();
  await inspect(olga, `a test of a channel that answers ${status}`);
  expect(olga.complained()).toEqual([]);
});

// Over plain http under a host name, where a browser has no clipboard, no passkeys and no `crypto.randomUUID`.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { path } from "../../dashboard/path-builder.ts";
import { copyTexts, secretTexts, stateTexts } from "../../dashboard/components/texts.ts";
import { newMember } from "../support/browser.ts";
import { freePort } from "../support/postgres.ts";
import { waitFor } from "../support/wait.ts";
import { PLAIN_HOST } from "./chromium.ts";
import { type Dashboard, startDashboard, type Visitor } from "./dashboard.ts";
import { inspect } from "./inspect.ts";
import { closeSecret, createKey } from "./steps.ts";

const OWNER = "olga@example.com";
/** Reported for every page here, because isolation works over https only. */
const UNTRUSTED = /Cross-Origin-Opener-Policy header has been ignored/;

let dashboard: Dashboard;
let visitor: Visitor;
let org: string;

beforeAll(async () => {
  const port = await freePort();
  dashboard = await startDashboard({
    host: PLAIN_HOST,
    configure: (config) => {
      config.listen.port = port;
      config.publicUrl = `http://${PLAIN_HOST}:${port}`;
    },
  });
  const { root, gateway } = dashboard;
  org = (await root.app("POST /operator/organizations", {}, { name: "Acme Robotics" })).id;
  await newMember(root, gateway, { org, role: "owner", email: OWNER });
  visitor = await dashboard.visitor();
  await visitor.signIn(OWNER);
});
afterAll(() => dashboard.stop());

test("a key is made, and its secret, which cannot be copied here, is shown selected to be copied by hand", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(org, "keys"));
  expect(await page.evaluate<boolean>("isSecureContext")).toBe(false);
  const secret = await createKey(visitor, { name: "By hand" });
  const shown = page.getByRole("dialog", { name: secretTexts.title });
  await shown.getByRole("button", { name: copyTexts.copy, exact: true }).first().click();
  await shown.getByText(copyTexts.byHand).waitFor();
  const selected = `(() => {
    const { value, selectionStart, selectionEnd } = document.activeElement;
    return value?.slice(selectionStart, selectionEnd) ?? "";
  })()`;
  await waitFor(async () => (await page.evaluate<string>(selected)) === secret, "the secret to be selected");
  await inspect(visitor, "a secret that cannot be copied", { about: UNTRUSTED });
  await closeSecret(visitor);
});

test("an error in the page itself is not reported as unreachable", async () => {
  const { page } = visitor;
  await page.route("**/app/v1/orgs/*/keys?*", (route) =>
    route.fulfill({ contentType: "application/json", body: "no JSON" }),
  );
  await page.goto(new URL(path.organization(org, "keys"), page.url()).href);
  await page.getByRole("alert").waitFor();
  expect(await page.getByRole("alert").innerText()).not.toContain(stateTexts.unreachableCode);
});

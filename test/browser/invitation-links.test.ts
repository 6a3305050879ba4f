// An invitation's link opened by a person who has an account: it survives signing in, a newer one pasted into the
// same tab counts, and it is dropped after joining.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { path } from "../../dashboard/path-builder.ts";
import { invitationTexts as words } from "../../dashboard/pages/invitation/texts.ts";
import { signInTexts } from "../../dashboard/pages/sign-in/texts.ts";
import { newMember, PASSWORD } from "../support/browser.ts";
import { type Dashboard, DESKTOP, NARROW, startDashboard } from "./dashboard.ts";

const EMAIL = "ida@example.com";

let dashboard: Dashboard;
let second: string;
let third: string;
beforeAll(async () => {
  dashboard = await startDashboard();
  const { root, gateway } = dashboard;
  for (const name of ["Second", "Third"]) {
    const { id } = await root.app("POST /operator/organizations", {}, { name });
    if (name === "Second") second = id;
    else third = id;
  }
  await newMember(root, gateway, { org: second, role: "owner", email: EMAIL });
});
afterAll(() => dashboard.stop());

test("a replaced link, then the new one in the same tab, then the sign-in, then the organization itself", async () => {
  const invite = async (): Promise<string> =>
    (
      await dashboard.root.app(
        "POST /operator/organizations/{org}/invitations",
        { org: third },
        { email: EMAIL, role: "viewer" },
      )
    ).link ?? "";
  const { page } = await dashboard.visitor();
  const link = await invite();
  await page.goto(link.replace(/token=.*/, "token=of_nobody"));
  await page.getByRole("alert").waitFor();
  // A person who joined by it before still gets in.
  await page.getByRole("link", { name: words.home }).click();
  await page.waitForURL((url) => url.pathname === path.signIn());
  await page.goto(link.replace(/token=.*/, "token=of_nobody"));
  await page.getByRole("alert").waitFor();
  await page.goto(link); // only the fragment changes: nothing is reloaded
  await page.getByText(words.lead("Third", "viewer")).waitFor();
  await page.getByRole("link", { name: words.signIn }).click();
  await page.waitForURL((url) => url.pathname === path.signIn());
  expect(page.url()).not.toContain("token");
  await page.getByLabel(signInTexts.email).fill(EMAIL);
  await page.getByLabel(signInTexts.password, { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: signInTexts.submit, exact: true }).click();
  await page.getByRole("button", { name: words.accept }).click();
  await page.waitForURL((url) => url.pathname === path.organization(third, "overview"));
});

test("a long name without blanks stays on the card", async () => {
  const { root } = dashboard;
  const name = "W".repeat(100);
  const { id: org } = await root.app("POST /operator/organizations", {}, { name });
  const email = "jo@example.com";
  const { link } = await root.app(
    "POST /operator/organizations/{org}/invitations",
    { org },
    { email, role: "viewer" },
  );
  const visitor = await dashboard.visitor();
  for (const size of [DESKTOP, NARROW]) {
    await visitor.resize(size);
    await visitor.page.goto(link ?? "");
    await visitor.page.getByText(words.lead(name, "viewer")).waitFor();
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
  }
});

// Every page that exists, as a person would meet it: light and dark, wide and narrow. axe finds nothing, nothing is
// wider than the screen, the browser complains about nothing.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { OPERATOR_PAGES, ORGANIZATION_PAGES, path } from "../../dashboard/path-builder.ts";
import { type Dashboard, DESKTOP, NARROW, OPERATOR, startDashboard, type Visitor } from "./dashboard.ts";
import { furnish, type Furnished } from "./furnish.ts";

let dashboard: Dashboard;
let house: Furnished;
let visitor: Visitor;

beforeAll(async () => {
  dashboard = await startDashboard();
  house = await furnish(dashboard);
  visitor = await dashboard.visitor(house.owner);
});
afterAll(() => dashboard.stop());

async function inspect(address: string): Promise<void> {
  for (const scheme of ["light", "dark"] as const) {
    await visitor.scheme(scheme);
    expect({ address, scheme, axe: await visitor.axe() }).toEqual({ address, scheme, axe: [] });
  }
  await visitor.resize(NARROW);
  expect({ address, overflow: await visitor.overflow() }).toEqual({ address, overflow: 0 });
  await visitor.resize(DESKTOP);
  expect({ address, complained: visitor.complained() }).toEqual({ address, complained: [] });
}

test("the sign-in page", async () => {
  const stranger = await dashboard.visitor();
  const signedIn = visitor;
  visitor = stranger;
  await stranger.open(path.signIn());
  await inspect(path.signIn());
  await stranger.leave();
  visitor = signedIn;
});

for (const page of ORGANIZATION_PAGES)
  test(`organization: ${page}`, async () => {
    const address = path.organization(house.org, page);
    if (await visitor.open(address)) await inspect(address);
    else missing.push(address);
  });

test("the operator signs in", async () => {
  await visitor.leave();
  visitor = await dashboard.visitor(OPERATOR);
});

for (const page of OPERATOR_PAGES)
  test(`operator: ${page}`, async () => {
    const address = path.operator(page);
    if (await visitor.open(address)) await inspect(address);
    else missing.push(address);
  });

const missing: string[] = [];
test("every address of the path builder has its page", () => {
  expect(missing).toEqual([]);
});

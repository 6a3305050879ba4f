// Every page that exists, as a person would meet it: light and dark, wide and narrow.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { OPERATOR_PAGES, ORGANIZATION_PAGES, path } from "../../dashboard/path-builder.ts";
import { type Dashboard, OPERATOR, startDashboard, type Visitor } from "./dashboard.ts";
import { seed, type Seeded } from "./fixture.ts";
import { inspect } from "./inspect.ts";

const SECOND_MS = 1_000;

let dashboard: Dashboard;
let seeded: Seeded;
let visitor: Visitor;

beforeAll(async () => {
  dashboard = await startDashboard();
  seeded = await seed(dashboard);
  visitor = await dashboard.visitor(seeded.owner);
});
afterAll(() => dashboard.stop());

test("the sign-in page", async () => {
  const stranger = await dashboard.visitor();
  await stranger.open(path.signIn());
  await inspect(stranger, path.signIn());
  await stranger.leave();
});

for (const page of ORGANIZATION_PAGES)
  test(`organization: ${page}`, async () => {
    const address = path.organization(seeded.org, page);
    if (await visitor.open(address)) await inspect(visitor, address);
    else missing.push(address);
  });

test("the first paint comes within a second, for a stranger and for a member", async () => {
  const painted = async (by: Visitor, address: string): Promise<number> => {
    await by.open(address);
    return by.page.evaluate<number>(
      `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.POSITIVE_INFINITY`,
    );
  };
  /** Others use the machine, too: one of some tries has it for itself. */
  const quickest = async (paint: () => Promise<number>): Promise<number> => {
    let best = Number.POSITIVE_INFINITY;
    for (let tries = 0; best >= SECOND_MS && tries < 5; tries++) best = Math.min(best, await paint());
    return best;
  };
  const forStranger = async (): Promise<number> => {
    const stranger = await dashboard.visitor();
    const ms = await painted(stranger, path.signIn());
    await stranger.leave();
    return ms;
  };
  const forMember = (): Promise<number> => painted(visitor, path.organization(seeded.org, "overview"));
  expect(await quickest(forStranger)).toBeLessThan(SECOND_MS);
  expect(await quickest(forMember)).toBeLessThan(SECOND_MS);
});

test("the operator signs in", async () => {
  await visitor.leave();
  visitor = await dashboard.visitor(OPERATOR);
});

for (const page of OPERATOR_PAGES)
  test(`operator: ${page}`, async () => {
    const address = path.operator(page);
    if (await visitor.open(address)) await inspect(visitor, address);
    else missing.push(address);
  });

const missing: string[] = [];
test("every address of the path builder has its page", () => {
  expect(missing).toEqual([]);
});

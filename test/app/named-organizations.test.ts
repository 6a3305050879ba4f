// However many organizations there are, every row of one has its name: all operator pages show the name beside the
// id, even of an organization made after two hundred others.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { z } from "zod";
import { methodOf, pathFields, pathOf } from "../../src/api/target.ts";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { TARGETS } from "../support/endpoints.ts";
import { entitled } from "../support/entitled.ts";
import { hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN, RESEARCH } from "../support/models.ts";

const OTHERS = 230;
const NAME = "The last of them";

let gateway: TestGateway;
let root: Browser;
let last: string;

beforeAll(async () => {
  gateway = await startGateway();
  root = await firstOperator(gateway);
  for (let n = 0; n < OTHERS; n += 1) await gateway.admin("POST", "/organizations", { name: `Other ${n}` });
  // Ids are random: of several, uses the one that is last.
  const made = await Promise.all(
    Array.from({ length: 20 }, () => root.app("POST /operator/organizations", {}, { name: NAME })),
  );
  last =
    made
      .map(({ id }) => id)
      .toSorted()
      .at(-1) ?? "";
  await gateway.admin("POST", "/credits", { org: last, usd: "0.01", kind: "purchase" });
  const customer = await gateway.key(last);
  expect((await gateway.chat(customer, hello(PLAIN.model))).status).toBe(200);
  expect((await gateway.chat(customer, hello("no-such-model"))).status).toBe(404);
  await gateway.admin("POST", "/entitlements", { org: last, model: RESEARCH.model, project: "waits" });
  await entitled(gateway, { org: last, model: RESEARCH.model, untilMs: Date.now() + 86_400_000 });
  await newMember(root, gateway, { org: last, role: "owner", email: "last@example.com" });
}, 120_000);
afterAll(() => gateway.stop());

/** The places where an object names the organization by its id, and has no name of it. */
function nameless(told: unknown, at: string): string[] {
  if (typeof told !== "object" || told === null) return [];
  const one = told as Record<string, unknown>;
  const named = [one["org_name"], one["name"], one["target_name"], one["title"]].includes(NAME);
  const own = (one["org"] === last || one["id"] === last) && !named ? [`${at}: ${JSON.stringify(one)}`] : [];
  return [...own, ...Object.entries(one).flatMap(([name, value]) => nameless(value, `${at}.${name}`))];
}

test("every operator list that mentions an organization has its name", async () => {
  const heard: string[] = [];
  for (const { target, endpoint } of TARGETS) {
    const path = pathOf(target);
    const isList = methodOf(target) === "GET" && path.startsWith("/app/v1/operator/");
    if (!isList || pathFields(target).length > 0 || !(endpoint.output instanceof z.ZodType)) continue;
    const queries: Record<string, string>[] = [
      {},
      { org: last },
      { q: NAME },
      { search: NAME },
      { model: PLAIN.model },
    ];
    for (const query of queries.filter((one) => endpoint.input.safeParse(one).success)) {
      const { status, json, text } = await root.send(
        "GET",
        `${path}?${new URLSearchParams(query).toString()}`,
      );
      expect([path, status]).toEqual([path, 200]);
      expect(nameless(json, path)).toEqual([]);
      if (text.includes(last)) heard.push(path);
    }
  }
  expect(new Set(heard).size).toBeGreaterThan(6);
});

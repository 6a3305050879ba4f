// `./tollgate models diff` against a running gateway: old and new prices by class, the current markup, who used the
// model, what vanished, and an exit code for scripts.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RouteDifference } from "../../src/releases/catalogue/difference.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN, PREVIEW_V2 } from "../support/models.ts";
import { type Ran, runToEnd, PROGRAM } from "../support/program.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-models-diff-"));
const VANISHING = { ...PLAIN, model: "going-1", upstream_model: "sim-going-1" };
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ models: [PLAIN, PREVIEW_V2, VANISHING] });
  const customer = await gateway.customer();
  for (const content of ["one", "two"])
    await gateway.chat(customer, {
      model: PLAIN.model,
      messages: [{ role: "user", content }],
      max_tokens: 5,
    });
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The tests' models cost two dollars and 0.20. */
const AS_SOLD = {
  litellm_provider: "simulator",
  mode: "chat",
  max_input_tokens: 131_072,
  max_output_tokens: 8192,
  input_cost_per_token: 2e-6,
  cache_read_input_token_cost: 2e-7,
  output_cost_per_token: 2e-6,
};

interface Diff {
  code: number;
  text: string;
  routes: (RouteDifference & {
    use: { organizations: number; data: { name: string; requests: number }[] } | null;
  })[];
}

async function diff(content: object, ...flags: string[]): Promise<Diff> {
  const table = join(folder, "table.json");
  writeFileSync(table, JSON.stringify(content));
  const run = (...more: string[]): Promise<Ran> =>
    runToEnd(PROGRAM, ["models", "diff", "--from", table, ...flags, ...more], {
      env: { ...process.env, TOLLGATE_URL: gateway.url, TOLLGATE_TOKEN: gateway.token },
    });
  const [people, script] = await Promise.all([run(), run("--json")]);
  expect(script.code).toBe(people.code);
  const said = JSON.parse(script.out) as Partial<Diff>;
  return { code: script.code, text: people.out + people.err, routes: said.routes ?? [] };
}

const ALL = {
  "simulator/sim-plain-1": AS_SOLD,
  "simulator/sim-base-2": AS_SOLD,
  "simulator/sim-going-1": AS_SOLD,
};

test("a table equal to what is sold: exit code 0, usage is not read", async () => {
  const { code, routes, text } = await diff(ALL);
  expect([code, routes.map(({ status }) => status)]).toEqual([0, ["same", "same", "same"]]);
  expect(text).toContain("3 routes: 3 same");
});

test("a changed price: old, new, percent, current markup, who used the model; a vanished one; exit code 1", async () => {
  const { code, routes, text } = await diff({
    "simulator/sim-plain-1": {
      ...AS_SOLD,
      input_cost_per_token: 1.6e-6,
      cache_creation_input_token_cost: 2e-6,
      supports_function_calling: true,
    },
    "simulator/sim-base-2": AS_SOLD,
  });
  const by = new Map(routes.map((route) => [route.model, route]));
  const plain = by.get(PLAIN.model);
  expect([code, plain?.status, by.get("going-1")?.status, by.get(PREVIEW_V2.model)?.status]).toEqual([
    1,
    "changed",
    "vanished",
    "same",
  ]);
  expect(plain?.prices.slice(0, 4)).toEqual([
    {
      price: "input_per_million",
      above_prompt_tokens: null,
      before: "2",
      after: "1.6",
      percent: "-20.0",
      markup: "1.25",
    },
    {
      price: "cached_input_per_million",
      above_prompt_tokens: null,
      before: "0.2",
      after: "0.2",
      percent: "0.0",
      markup: "1",
    },
    {
      price: "cache_write_per_million",
      above_prompt_tokens: null,
      before: "2",
      after: "2",
      percent: "0.0",
      markup: "1",
    },
    {
      price: "output_per_million",
      above_prompt_tokens: null,
      before: "2",
      after: "2",
      percent: "0.0",
      markup: "1",
    },
  ]);
  expect(plain?.offers).toContainEqual({ field: "capabilities.tools", before: "false", after: "true" });
  expect(plain?.use).toMatchObject({ organizations: 1, data: [{ name: "Test", requests: 2 }] });
  expect(by.get("going-1")?.use).toMatchObject({ organizations: 0, data: [] });
  expect(text).toMatch(/input_per_million +2 +1\.6 +-20\.0 % +1\.25/);
  expect(text).toContain("by 1 organization, 2 requests: Test 2");
  expect(text).toContain("no longer has this model of this provider");
});

test("with the intended markup given, only deviations from it are changes", async () => {
  const cheaper = {
    ...AS_SOLD,
    input_cost_per_token: 1.6e-6,
    cache_read_input_token_cost: 1.6e-7,
    output_cost_per_token: 1.6e-6,
  };
  const table = Object.fromEntries(Object.keys(ALL).map((name) => [name, cheaper]));
  expect((await diff(table, "--markup", "1.25")).code).toBe(0);
  expect((await diff(table, "--markup", "1.2")).code).toBe(1);
});

test("a provider with another name in the table is mapped; several that have the model are ambiguous", async () => {
  const elsewhere = (name: string): object =>
    Object.fromEntries(
      Object.keys(ALL).map((key) => [key.replace("simulator", name), { ...AS_SOLD, litellm_provider: name }]),
    );
  expect((await diff(elsewhere("acme"))).routes.map(({ status }) => status)).toEqual([
    "same",
    "same",
    "same",
  ]);
  const both = { ...elsewhere("acme"), ...elsewhere("other") };
  const ambiguous = await diff(both);
  expect([ambiguous.code, ambiguous.routes[0]?.status, ambiguous.routes[0]?.listed_as.length]).toEqual([
    1,
    "ambiguous",
    2,
  ]);
  expect((await diff(both, "--map", "simulator=other")).code).toBe(0);
});

test("against the table that ships: models that it may lack are named, and are no change", async () => {
  const { code, out } = await runToEnd(PROGRAM, ["models", "diff"], {
    env: { ...process.env, TOLLGATE_URL: gateway.url, TOLLGATE_TOKEN: gateway.token },
  });
  expect([code, out]).toEqual([
    0,
    expect.stringContaining("Not in this table: base-preview-v2@simulator/local"),
  ]);
});

// Wrong arguments are reported before any call: exit code 2, one JSON document with `--json`, and nothing has been
// changed. A refusal by the gateway is 1, with the next step to take.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { PROGRAM, type Ran, runToEnd } from "../support/program.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ store: "sqlite" });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(() => gateway.stop());

const run = (...args: string[]): Promise<Ran> =>
  runToEnd(PROGRAM, ["--data-dir", gateway.dataDir, ...args], { cwd: gateway.dataDir });

interface KeyRow {
  id: string;
  status: string;
  expires_at: string | null;
}
const keys = async (): Promise<KeyRow[]> =>
  (
    JSON.parse((await run("keys", "list", "--org", customer.organizationId, "--json")).out) as {
      data: KeyRow[];
    }
  ).data;

describe("wrong usage", () => {
  const ORG = "org_of_nobody";
  const wrong: [args: string[], said: string][] = [
    [["keys", "replace", "key_x", "--overlap", "24h"], "It must be a number of hours"],
    [["keys", "create", "--org", ORG, "--name", "x", "--max-output", "1e3"], "a whole number of tokens"],
    [["limits", "set"], "No owner was given for the limits"],
    [["limits", "set", "--org", ORG], "No limit was given"],
    [["limits", "set", "--org", ORG, "--concurrent", "0"], "--concurrent 0 is neither a whole number from 1"],
    [["usage", "--org", ORG, "--csv"], "--csv and --json cannot be combined"],
    [["usage", "--org", ORG, "--watch", "2"], "--watch and --json cannot be combined"],
    [
      ["statement", "--org", ORG, "--month", "2026-11", "--csv"],
      "--pdf, --csv and --json cannot be combined",
    ],
    [["request", "tail", "--org", ORG], "request tail and --json cannot be combined"],
    [["completion", "bash"], "completion and --json cannot be combined"],
    [["ledger", "resolve", "req_x", "--reason", "x"], "It is not clear how to end it"],
    [["release", "sign", "x.yaml", "--key", "x", "--expires-in", "30"], "--expires-in 30 is not a duration"],
    [["models", "import", "--markup", "-1"], "--markup -1 is not a factor"],
    [["models", "import", "--release", "0"], "--release 0 is not a whole number of 1 or more"],
    [["seed", "--days", "", "--data-dir", "elsewhere"], "--days  is not a valid number"],
    [["seed", "--seed", "", "--data-dir", "elsewhere"], "--seed  is not a valid number"],
    [["serve", "--workers", "two"], "--workers two is not a number of processes"],
    [["simulator", "--port", "http"], "http is not a port"],
    [["setup", "codex", "--key-env", "A-B"], "A-B is not the name of an environment variable"],
    [["org", "list", "--url", "gateway"], "gateway is not a URL"],
    [["db", "move", "--to", "mysql://x"], "mysql://x is not a PostgreSQL URL"],
    [["keys", "list"], "required option '--org <org>' not specified"],
    [["org", "list", "more"], "too many arguments"],
    [["nothing"], "unknown command 'nothing'"],
    [["keys"], "No command was given"],
    [[], "No command was given"],
  ];
  test.each(wrong)("%p", async (args, said) => {
    const { code, out, err } = await run(...args, "--json");
    const { error } = JSON.parse(out) as { error: { message: string; code: string; next: string } };
    expect({ code, error }).toEqual({
      code: 2,
      error: {
        message: expect.stringContaining(said),
        code: "wrong_usage",
        next: expect.stringMatching(/./),
      },
    });
    expect(err).toContain(`→ ${error.next}`);
  });
});

test.each(["abc", "", "-1", "1e3", "Infinity", "0x10", "24h"])(
  "an overlap of %p hours makes no key and ends none",
  async (hours) => {
    const before = await keys();
    const [key] = before;
    expect((await run("keys", "replace", key?.id ?? "", `--overlap=${hours}`)).code).toBe(2);
    expect(await keys()).toEqual(before);
  },
);

test("an overlap in hours, even fractional, ends the old key", async () => {
  const made = JSON.parse(
    (await run("keys", "create", "--org", customer.organizationId, "--name", "old", "--json")).out,
  ) as KeyRow;
  const { code, out } = await run("keys", "replace", made.id, "--overlap", "0.5");
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`${made.id} expires in 0.5 hours`) });
  const old = (await keys()).find(({ id }) => id === made.id);
  expect(Date.parse(old?.expires_at ?? "") - Date.now()).toBeLessThan(1_800_000);
});

test("a key that has expired is not reported as revoked since null", async () => {
  const made = JSON.parse(
    (await run("keys", "create", "--org", customer.organizationId, "--name", "over", "--json")).out,
  ) as KeyRow;
  await run("keys", "replace", made.id, "--overlap", "0");
  const { code, out } = await run("keys", "revoke", made.id, "--yes");
  expect({ code, out }).toEqual({ code: 0, out: expect.not.stringContaining("null") });
});

test("a person who requested an entitlement is told that somebody else decides", async () => {
  const args = ["--org", customer.organizationId, "--model", "base-research-1", "--project", "p", "--json"];
  const asked = JSON.parse((await run("entitlement", "request", ...args)).out) as { id: string };
  const { code, err } = await run("entitlement", "approve", asked.id, "--expires", "30d");
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("→ Let another operator decide") });
  expect(err).not.toContain("Correct entitlement");
});

test("request show prints why a provider was not believed, and what it reported beyond the quote", async () => {
  gateway.simulator.behave({
    behaviour: { usage_as_is: { prompt_tokens: 10, completion_tokens: 5_000, total_tokens: 5_010 } },
    calls: 1,
  });
  const { json } = await gateway.chat<{ gateway: { request_id: string } }>(customer, {
    ...hello(),
    max_tokens: 30,
  });
  const { out } = await run("request", "show", json.gateway.request_id);
  const { out: asJson } = await run("request", "show", json.gateway.request_id, "--json");
  const [attempt] = (
    JSON.parse(asJson) as { attempts: { doubts: string[]; told: Record<string, unknown> }[] }
  ).attempts;
  expect(attempt?.doubts.length).toBeGreaterThan(0);
  expect(out).toContain(`attempt 1, doubts: ${attempt?.doubts.join(", ")}`);
  expect(attempt?.told).toMatchObject({ completion_tokens: 5_000 });
  expect(out).toMatch(/attempt 1, reported beyond the quote: prompt_tokens \d+, completion_tokens 5000/);
});

test("an unknown address of the operator API names the document that lists the known ones", async () => {
  const { token } = (await Bun.file(`${gateway.dataDir}/operator.json`).json()) as { token: string };
  const ask = (path: string): Promise<Response> =>
    fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  const nowhere = await ask("/admin/v1/nowhere");
  const { error } = (await nowhere.json()) as { error: { message: string } };
  const named = / See (\/admin\/v1\/\S+)\.$/.exec(error.message)?.[1] ?? "";
  expect([nowhere.status, named]).toEqual([404, "/admin/v1/openapi.json"]);
  expect((await ask(named)).status).toBe(200);
});

test("a key for a model that nothing serves is made, with a hint at the nearest name", async () => {
  const make = (models: string): Promise<Ran> =>
    run("keys", "create", "--org", customer.organizationId, "--name", "slip", "--models", models);
  const slip = await make("base-preview-v1,base-previw-v2,gpt-0");
  expect(slip).toMatchObject({ code: 0, out: expect.stringContaining("gw_sk_") });
  expect(slip.err.trim().split("\n")).toEqual([
    'No release serves the model "base-previw-v2": the key can use it once one does. Did you mean base-preview-v2?',
    'No release serves the model "gpt-0": the key can use it once one does.',
  ]);
  const research = await make("base-research-1");
  expect(research).toMatchObject({
    code: 0,
    err: expect.stringContaining("requires a key of scope research"),
  });
  for (const good of ["base-preview-v1, plain-1", "all"]) expect((await make(good)).err).toBe("");
  const [key] = await keys();
  const changed = await run("keys", "update", key?.id ?? "", "--models", "plain-l");
  expect(changed).toMatchObject({ code: 0, err: expect.stringContaining("Did you mean plain-1?") });
});

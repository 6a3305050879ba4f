// An operator's day on the command line, against a gateway started by the same command line: every command of
// docs/cli.md, its JSON, its exit code (interfaces.md §2).
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RateLimitJson } from "../../src/api/shapes/rate-limits.ts";
import { VERSION } from "../../src/domain/program.ts";
import { Browser, PASSWORD } from "../support/browser.ts";
import { managementKeyOf } from "../support/hats.ts";
import { type Ran, runToEnd, SOURCES } from "../support/program.ts";

const root = join(import.meta.dir, "../..");
const folder = mkdtempSync(join(tmpdir(), "tollgate-cli-"));
const dataDir = join(folder, "data");
const environment = { ...process.env, TOLLGATE_DATA_DIR: dataDir, TOLLGATE_LOG_LEVEL: "silent" };

let gateway: ReturnType<typeof serve>;
let url = "";
const serve = (...flags: string[]): Bun.Subprocess<"ignore", "pipe", "inherit"> =>
  Bun.spawn([join(root, "tollgate"), "serve", "--port", "0", ...flags], {
    env: environment,
    cwd: folder,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });

/** Reads a start's output, up to the last line of the banner. */
async function bannerOf(process: typeof gateway): Promise<string> {
  let text = "";
  for await (const bytes of process.stdout) {
    text += new TextDecoder().decode(bytes);
    if (text.includes("Ctrl-C")) break;
  }
  return text;
}

let banner = "";
beforeAll(async () => {
  gateway = serve();
  banner = await bannerOf(gateway);
  url = (JSON.parse(readFileSync(join(dataDir, "operator.json"), "utf8")) as { url: string }).url;
}, 120_000);
afterAll(async () => {
  gateway.kill("SIGTERM");
  await gateway.exited;
  rmSync(folder, { recursive: true, force: true });
});

const run = (...args: string[]): Promise<Ran> => runToEnd(SOURCES, args, { env: environment, cwd: folder });

/** Runs with `--json`; expects success and exactly one document. */
async function json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
  const ran = await run(...args, "--json");
  if (ran.code !== 0) throw new Error(`${args.join(" ")}: ${ran.out}${ran.err}`);
  return JSON.parse(ran.out) as T;
}

const chat = (secret: string, model = "base-preview-v1"): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
  });

test("the first start prints a base URL, a demo key and a curl that works when pasted", async () => {
  expect(banner).toContain("Base URL");
  expect(banner).toContain("$5.00");
  const command = banner.slice(banner.indexOf("  curl "), banner.indexOf("Operate it")).trim();
  const pasted = Bun.spawn(["sh", "-c", `${command} -s -w '%{http_code}'`], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const answered = await new Response(pasted.stdout).text();
  expect(answered.slice(-3)).toBe("200");
  expect(answered).toContain('"chat.completion"');
});

test("it says which version it is", async () => {
  const { out, code } = await run("--version");
  expect([code, out.trim()]).toEqual([0, VERSION]);
  expect(await json("--version")).toEqual({ version: VERSION });
});

let org = "";
let key: { id: string; secret: string } = { id: "", secret: "" };

test("an organization, credits and a key", async () => {
  ({ id: org } = await json<{ id: string }>("org", "create", "--name", "Acme"));
  expect((await json<{ data: { name: string }[] }>("org", "list")).data.map(({ name }) => name)).toContain(
    "Acme",
  );
  const grant = [
    "credits",
    "grant",
    "--org",
    org,
    "--usd",
    "5.00",
    "--kind",
    "purchase",
    "--reference",
    "invoice-1",
  ];
  expect(await json(...grant)).toMatchObject({ balance_usd: "5.000000000" });
  expect(await json(...grant)).toMatchObject({ balance_usd: "5.000000000" });
  expect(await json("credits", "show", "--org", org)).toMatchObject({
    available_usd: "5.000000000",
    held_usd: "0.000000000",
    purchased_usd: "5.000000000",
  });
  key = await json<typeof key>("keys", "create", "--org", org, "--name", "batch", "--limit-usd", "1");
  expect(key.secret).toMatch(/^gw_sk_/);
  expect((await chat(key.secret)).status).toBe(200);
});

test("a request is refunded once per reference, and never more than it cost", async () => {
  const answer = (await (await chat(key.secret)).json()) as {
    gateway: { request_id: string; cost: { customer_charge_usd: number } };
  };
  const { request_id: request, cost } = answer.gateway;
  const usd = cost.customer_charge_usd.toFixed(9);
  const before = await json<{ available_usd: string }>("credits", "show", "--org", org);
  const refund = ["credits", "refund", request, "--usd", usd, "--reference", "complaint-1"];
  const refunded = await json<{ balance_usd: string; refunded: boolean }>(...refund);
  expect(refunded.refunded).toBe(true);
  expect(Number(refunded.balance_usd)).toBeCloseTo(Number(before.available_usd) + Number(usd), 9);
  expect(await json(...refund)).toMatchObject({ refunded: false, balance_usd: refunded.balance_usd });
  const shown = await run("request", "show", request);
  expect(shown.out).toMatch(new RegExp(`^refunded +\\$${Number(usd)}$`, "m"));
  const more = await run("credits", "refund", request, "--usd", "0.01", "--json");
  expect([more.code, more.out]).toEqual([1, expect.stringContaining('"conflict"')]);
  const nobody = await run("credits", "refund", "req_0", "--usd", "0.01", "--json");
  expect([nobody.code, nobody.out]).toEqual([1, expect.stringContaining('"not_found"')]);
});

test("payments: orders and events are listed, an unknown order is not confirmed", async () => {
  expect(await json("payments", "orders", "--org", org)).toEqual({ data: [], next_cursor: null });
  expect(await json("payments", "events")).toEqual({ data: [], next_cursor: null });
  const nobody = await run("payments", "confirm", "ord_nobody", "--json");
  expect([nobody.code, nobody.out]).toEqual([1, expect.stringContaining('"not_found"')]);
});

test("keys are listed without their secrets, limited and revoked", async () => {
  const listed = await run("keys", "list", "--org", org, "--json");
  expect(listed.out).not.toContain(key.secret);
  expect(JSON.parse(listed.out)).toMatchObject({
    data: [{ id: key.id, name: "batch", limit_usd: "1.000000000", status: "active" }],
  });
  expect(await json("keys", "limit", key.id, "--usd", "0")).toMatchObject({ limit_usd: "0.000000000" });
  expect((await chat(key.secret)).status).toBe(403);
  await json("keys", "limit", key.id, "--usd", "none");
  expect((await chat(key.secret)).status).toBe(200);
  const other = await json<typeof key>("keys", "create", "--org", org, "--name", "leaked");
  await json("keys", "revoke", other.id);
  expect((await chat(other.secret)).status).toBe(401);
});

test("a key changed by another person is not changed by a command that names the old version", async () => {
  const limit = (usd: string, version: string) =>
    run("keys", "limit", key.id, "--usd", usd, "--if-version", version, "--json");
  const { version: seen } = await json<{ version: string }>("keys", "limit", key.id, "--usd", "3");
  const { version } = await json<{ version: string }>("keys", "rename", key.id, "--name", "nightly");
  const late = await limit("4", seen);
  expect([late.code, late.err.includes("keys list")]).toEqual([1, true]);
  expect(JSON.parse(late.out)).toMatchObject({ error: { code: "changed_meanwhile" } });
  expect(JSON.parse((await limit("none", version)).out)).toMatchObject({ name: "nightly", limit_usd: null });
});

test("limits are set, listed and removed; impossible ones are explained", async () => {
  const set = (...args: string[]) => run("limits", "set", ...args);
  const wrong: [string[], string, 1 | 2][] = [
    [
      ["--org", org, "--concurrent", "-5"],
      "--concurrent -5 is neither a whole number from 1 to 1000000 nor none",
      2,
    ],
    [["--org", org, "--concurrent", "0"], "--concurrent 0 is neither a whole number from 1", 2],
    [
      ["--org", org, "--tokens-per-minute", "9007199254740993"],
      "9007199254740993 is neither a whole number",
      2,
    ],
    [["--org", org, "--model", "nope", "--concurrent", "3"], "./tollgate route list", 1],
    [["--key", "key_000000000000", "--concurrent", "3"], "./tollgate keys list", 1],
    [["--org", "org_000000000000", "--concurrent", "3"], "There is no organization", 1],
    [["--concurrent", "3"], "Give one: --org ORG, --key KEY or --model MODEL", 2],
    [["--org", org], "Give at least one: --requests-per-minute, --tokens-per-minute or --concurrent", 2],
  ];
  const [limits, ...refused] = await Promise.all([
    json<RateLimitJson>("limits", "set", "--key", key.id, "--requests-per-minute", "60", "--concurrent", "5"),
    ...wrong.map(([args]) => set(...args)),
  ]);
  expect(refused.map(({ code, out, err }, at) => [code, out, err.includes(wrong[at]?.[1] ?? "")])).toEqual(
    wrong.map(([, , code]) => [code, "", true]),
  );
  const lifted = ["--key", key.id, "--requests-per-minute", "none", "--if-version", limits.version];
  const again = await json<RateLimitJson>("limits", "set", ...lifted);
  expect(again.in_force).toEqual({ requests_per_minute: null, tokens_per_minute: null, concurrent: 5 });
  const [late, listed] = await Promise.all([set(...lifted), run("limits", "list", "--key", key.id)]);
  expect([late.code, late.err]).toEqual([1, expect.stringContaining("limits list")]);
  expect(listed.out).toMatch(new RegExp(`^${org} +${key.id} +all +none +none +5 +0$`, "m"));
  await json("limits", "set", "--key", key.id, "--concurrent", "none");
});

test("usage and a request's receipt", async () => {
  const reply = await chat(key.secret);
  const { gateway: receipt } = (await reply.json()) as { gateway: { request_id: string; cost: object } };
  const shown = await json<{ receipt?: { cost: object } }>("request", "show", receipt.request_id);
  expect(JSON.stringify(shown)).toContain(receipt.request_id);
  const verified = await run("request", "verify", receipt.request_id);
  expect([verified.code, verified.out.match(/^✓ /gm)?.length]).toEqual([0, 7]);
  const jwks = join(folder, "another.jwks.json");
  writeFileSync(jwks, JSON.stringify({ keys: [] }));
  const doubted = await run("request", "verify", receipt.request_id, "--jwks", jwks);
  expect([doubted.code, doubted.out]).toEqual([1, expect.stringContaining("✗ The receipt is signed")]);
  const usage = await json<{ data: { requests: number }[] }>("usage", "--org", org, "--group-by", "key");
  expect(usage.data[0]?.requests).toBe(4);
  // A key that the organization does not have is a mistake, not a key without usage.
  const typo = ["--org", org, "--key", "key_000000000000"];
  for (const words of [["usage"], ["request", "list"]]) {
    const { code, err } = await run(...words, ...typo);
    expect([words, code, err]).toEqual([words, 1, expect.stringContaining("./tollgate keys list --org ORG")]);
  }
  const csv = await run("usage", "--org", org, "--group-by", "model", "--csv");
  expect(csv.out.split("\n")[1]).toContain("base-preview-v1");
});

test("a month's statement: JSON, CSV, and a PDF in a file", async () => {
  const month = new Date().toISOString().slice(0, 7);
  const asked = ["statement", "--org", org, "--month", month];
  const { available_usd } = await json<{ available_usd: string }>("credits", "show", "--org", org);
  expect(await json(...asked)).toMatchObject({ month, closing_usd: available_usd, drift_usd: "0.000000000" });
  expect((await run(...asked, "--csv")).out).toContain(`\r\nclosing,`);
  const [pdf, both] = [await run(...asked, "--pdf"), await run(...asked, "--pdf", "--csv")];
  expect(pdf.out).toContain(`Wrote statement-${org}-${month}.pdf`);
  expect(readFileSync(join(folder, `statement-${org}-${month}.pdf`), "latin1")).toStartWith("%PDF-1.4\n");
  expect([both.code, both.err]).toEqual([2, expect.stringContaining("cannot be combined")]);
});

/** The management key of another person: the first account of the dashboard. */
async function secondPerson(): Promise<string> {
  const ada = new Browser(url);
  const token = /#token=(\S+)/.exec(banner)?.[1];
  const account = { name: "Ada", email: "ada@example.com", password: PASSWORD };
  await ada.app("POST /welcome", {}, { token, ...account });
  return await managementKeyOf(ada);
}

test("a research entitlement from request to revocation, by two persons", async () => {
  const { id } = await json<{ id: string }>(
    "entitlement",
    "request",
    "--org",
    org,
    "--model",
    "base-research-1",
    "--project",
    "safety",
  );
  const approve = ["entitlement", "approve", id, "--expires", "2099-01-01"];
  const alone = await run(...approve);
  expect([alone.code, alone.err]).toEqual([1, expect.stringContaining("Another operator has to decide it")]);
  expect(await json(...approve, "--url", url, "--token", await secondPerson())).toMatchObject({
    status: "active",
  });
  const researcher = await json<typeof key>(
    "keys",
    "create",
    "--org",
    org,
    "--name",
    "lab",
    "--scope",
    "research",
  );
  expect((await chat(researcher.secret, "base-research-1")).status).toBe(200);
  expect(await json("entitlement", "revoke", id)).toMatchObject({ status: "revoked" });
  expect((await chat(researcher.secret, "base-research-1")).status).toBe(403);
  const { data } = await json<{ data: { requested_by: string }[] }>("entitlement", "list", "--org", org);
  expect(data).toHaveLength(1);
  // The refusal names the person who may not decide.
  const listed = (await run("entitlement", "list", "--org", org)).out;
  expect(listed).toMatch(/^ID .* REQUESTED BY .*EXPIRES/);
  expect(listed).toContain(data[0]?.requested_by ?? "nobody");
});

test("routes are listed, disabled and enabled", async () => {
  const route = "plain-1@simulator/local";
  const { data } = await json<{ data: { route: string; state: string }[] }>("route", "list");
  expect(data.map(({ state }) => state)).toEqual(["live", "live", "live", "live"]);
  expect(await json("route", "disable", route, "--reason", "maintenance")).toMatchObject({
    state: "disabled",
  });
  expect((await chat(key.secret, "plain-1")).status).toBe(503);
  expect(await json("route", "enable", route)).toMatchObject({ state: "live" });
  expect((await json<{ data: object[] }>("release", "list")).data).toHaveLength(4);
});

test("keygen, sign and verify a release; another signer's signature is refused", async () => {
  const manifest = join(folder, "release.yaml");
  writeFileSync(
    manifest,
    `model: mine-1
provider: simulator
upstream_model: sim
region: local
version: 1
tier: standard
context_window: 1000
max_output_tokens: 100
default_output_tokens: 100
pricing: { currency: USD, input_per_million: "1", output_per_million: "1", request_minimum: "0" }
`,
  );
  const { kid } = await json<{ kid: string }>("release", "keygen", "--out", join(folder, "keys"));
  expect(kid.length).toBeGreaterThan(20);
  expect(statSync(join(folder, "keys/release.private.jwk")).mode & 0o777).toBe(0o600);
  const signed = await run(
    "release",
    "sign",
    manifest,
    "--key",
    join(folder, "keys/release.private.jwk"),
    "--json",
  );
  expect(signed.code).toBe(0);
  const jws = join(folder, "release.jws");
  expect(statSync(jws).size).toBeGreaterThan(100);
  expect(
    (await run("release", "verify", jws, "--trust", join(folder, "keys/release.public.jwk"), "--json")).code,
  ).toBe(0);
  for (const [span, why] of [
    ["500d", "valid for more than 400 days"],
    ["0d", "expires before it was issued"],
  ] as const) {
    const privateKey = join(folder, "keys/release.private.jwk");
    const file = join(folder, `${span}.jws`);
    const refused = await run(
      "release",
      "sign",
      manifest,
      "--key",
      privateKey,
      "--expires-in",
      span,
      "--out",
      file,
    );
    expect([refused.code, existsSync(file)]).toEqual([1, false]);
    expect(refused.err).toContain(why);
  }
  const published = await run("release", "publish", jws, "--json");
  expect(published.code).toBe(1);
  expect(published.err + published.out).toContain("trusted");
});

test("the ledger is audited while the gateway runs, and the doctor finds nothing", async () => {
  expect(await json("ledger", "audit")).toMatchObject({ ok: true, violations: [] });
  const doctor = await run("doctor");
  expect(doctor.code).toBe(0);
});

test("a live store is backed up, and the copy has the same money", async () => {
  const copy = join(folder, "copy.sqlite");
  await json("db", "backup", copy);
  const { Database } = await import("bun:sqlite");
  const sum = (path: string): unknown =>
    new Database(path, { readonly: true })
      .query("SELECT sum(available + held) FROM org_balance")
      .values()[0]?.[0];
  expect(sum(copy)).toBe(sum(join(dataDir, "tollgate.sqlite")));

  const restored = join(folder, "restored");
  mkdirSync(restored, { mode: 0o700 });
  copyFileSync(copy, join(restored, "tollgate.sqlite"));
  copyFileSync(join(dataDir, "data.key"), join(restored, "data.key"));
  for (const file of ["tollgate.sqlite", "data.key"]) chmodSync(join(restored, file), 0o600);
  const again = serve("--data-dir", restored);
  try {
    await bannerOf(again);
    expect(await json("ledger", "audit", "--data-dir", restored)).toMatchObject({ ok: true, violations: [] });
    expect(await json("credits", "show", "--org", org, "--data-dir", restored)).toEqual(
      await json("credits", "show", "--org", org),
    );
  } finally {
    again.kill("SIGTERM");
    await again.exited;
  }
}, 120_000);

test.each([
  [["org", "create"], 2],
  [["nothing"], 2],
  [["keys", "revoke", "key_nobody"], 1],
  [["credits", "grant", "--org", "org_nobody", "--usd", "5"], 1],
  [["credits", "grant", "--org", "org_x", "--usd", "-5"], 1],
])("%p exits with %d and says what to do next", async (args, code) => {
  const ran = await run(...args);
  expect(ran.code).toBe(code);
  expect(ran.err).toContain("→");
  expect(ran.out).toBe("");
});

test("a second gateway on the same store is refused with the pid of the first", async () => {
  const second = Bun.spawn([join(root, "tollgate"), "serve", "--port", "0"], {
    env: environment,
    cwd: folder,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const said = await new Response(second.stderr).text();
  expect(await second.exited).toBe(1);
  expect(said).toContain(String(gateway.pid));
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});

test("an unusable configuration stops the start with file, line and path", async () => {
  const settings = join(folder, "bad.yaml");
  writeFileSync(settings, "listen: { port: 70000 }\nlimitz: {}\n");
  const ran = await run("serve", "--config", settings);
  expect(ran.code).toBe(1);
  expect(ran.err).toContain("listen.port");
  expect(ran.err).toContain("limitz");
});

test("SIGTERM lets a running answer finish, settles it and exits 0; the next start finds everything", async () => {
  const slow = fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "plain-1", messages: [{ role: "user", content: "hi" }], stream: true }),
  });
  const reply = await slow;
  gateway.kill("SIGTERM");
  expect(await reply.text()).toContain("data: [DONE]");
  expect(await gateway.exited).toBe(0);
  gateway = serve();
  const again = await bannerOf(gateway);
  expect(again).not.toContain("Demo key");
  url = (JSON.parse(readFileSync(join(dataDir, "operator.json"), "utf8")) as { url: string }).url;
  expect(await json("credits", "show", "--org", org)).toMatchObject({ held_usd: "0.000000000" });
  expect((await chat(key.secret)).status).toBe(200);
});

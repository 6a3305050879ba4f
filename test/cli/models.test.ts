// `./tollgate models` in use: the exact files it writes, what it never overwrites, tables that are hostile or
// unreachable, and no path outside the given directory.
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ran, runToEnd, PROGRAM } from "../support/program.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-models-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const models = (...args: string[]): Promise<Ran> =>
  runToEnd(PROGRAM, ["models", ...args], {
    cwd: folder,
    env: { ...process.env, TOLLGATE_DATA_DIR: join(folder, "data"), NO_PROXY: "127.0.0.1" },
  });

const file = (name: string, content: string | object): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};

const PLAIN = {
  litellm_provider: "acme",
  mode: "chat",
  max_input_tokens: 128_000,
  max_output_tokens: 16_384,
  input_cost_per_token: 2.9e-7,
  cache_read_input_token_cost: 3.3333333333e-8,
  output_cost_per_token: 1.2e-6,
  supports_function_calling: true,
  supports_vision: true,
};
const GOLDEN = `# Proposed from table.json, 2026-11-20: acme/small
# Markup 1.15. Not signed: compare it with the provider's own price list, then ./tollgate release sign.
# - it reads images: capabilities { images: true } needs image_tokens_max, or import it with --image-tokens
model: "small"
provider: "acme-eu"
upstream_model: "small"
region: "eu"
version: 3
tier: standard
context_window: 128000
max_output_tokens: 16384
default_output_tokens: 16384
pricing:
  currency: USD
  input_per_million: "0.3335"  # 0.29 in the source
  cached_input_per_million: "0.038333334"  # 0.033333333333 in the source, 0.03833333333295 rounded up
  output_per_million: "1.38"  # 1.2 in the source
  request_minimum: "0"
tokenizer: bytes
capabilities: {"tools": true, "images": false, "json_schema": false}
`;

let table = "";
beforeAll(() => {
  table = file("table.json", {
    source: "table.json",
    date: "2026-11-20",
    "acme/small": PLAIN,
    "acme/large": PLAIN,
  });
});

test("a manifest is written verbatim, can be signed unchanged, and is not overwritten unless told to", async () => {
  const flags = [
    "--from",
    table,
    "--model",
    "small",
    "--markup",
    "1.15",
    "--as",
    "acme-eu",
    "--region",
    "eu",
  ];
  const out = ["--release", "3", "--out", "made"];
  const ran = await models("import", ...flags, ...out);
  expect([ran.code, readdirSync(join(folder, "made"))]).toEqual([0, ["acme-eu__small.yaml"]]);
  const path = join(folder, "made/acme-eu__small.yaml");
  expect(readFileSync(path, "utf8")).toBe(GOLDEN);
  expect(await models("import", ...flags, ...out)).toMatchObject({
    code: 0,
    out: expect.stringContaining("unchanged"),
  });
  writeFileSync(path, "mine\n");
  const kept = await models("import", ...flags, ...out);
  expect([kept.code, kept.out, readFileSync(path, "utf8")]).toEqual([
    1,
    expect.stringContaining("KEPT"),
    "mine\n",
  ]);
  const replaced = await models("import", ...flags, ...out, "--force", "--json");
  expect([replaced.code, (JSON.parse(replaced.out) as { replaced: string[] }).replaced]).toEqual([
    0,
    ["made/acme-eu__small.yaml"],
  ]);
  expect(readFileSync(path, "utf8")).toBe(GOLDEN);
  const release = (...args: string[]): Bun.SyncSubprocess =>
    Bun.spawnSync([PROGRAM, "release", ...args], { cwd: folder });
  expect(release("keygen", "--out", "keys").exitCode).toBe(0);
  expect(release("sign", path, "--key", "keys/release.private.jwk").exitCode).toBe(0);
}, 120_000);

test("a link in the directory is neither followed nor replaced", async () => {
  mkdirSync(join(folder, "linked"));
  const secret = file("secret.txt", "secret\n");
  symlinkSync(secret, join(folder, "linked/acme__small.yaml"));
  const flags = ["import", "--from", table, "--model", "small", "--out", "linked"];
  expect((await models(...flags)).code).toBe(1);
  expect((await models(...flags, "--force")).code).toBe(0);
  expect(readFileSync(secret, "utf8")).toBe("secret\n");
});

test("hostile names and prices are left out with their reasons, and nothing is written outside", async () => {
  const hostile = file("hostile.json", {
    "../../escaped": PLAIN,
    "acme/..": PLAIN,
    "acme/\u001b[2Jx": PLAIN,
    "acme/dear": { ...PLAIN, output_cost_per_token: 1e30 },
    "acme/negative": { ...PLAIN, input_cost_per_token: -1 },
    "acme/a/b": PLAIN,
    "acme/a_b": PLAIN,
  });
  const before = readdirSync(folder);
  const ran = await models("import", "--from", hostile, "--out", "inside/deep", "--json");
  const said = JSON.parse(ran.out) as { written: string[]; skipped: { name: string; reason: string }[] };
  expect(said.written).toEqual(["inside/deep/acme__a_b.yaml"]);
  expect(said.skipped.map(({ reason }) => reason).join("\n")).toMatch(/nine decimals[\s\S]*another model/);
  expect(said.skipped).toHaveLength(6);
  expect(ran.err).not.toContain("\u001b");
  expect(readdirSync(folder).toSorted()).toEqual([...before, "inside"].toSorted());
  expect((await models("import", "--from", table, "--as", "../x", "--out", "inside/deep")).code).toBe(1);
  expect(readdirSync(join(folder, "inside/deep"))).toEqual(["acme__a_b.yaml"]);
});

test("if all models of a provider are left out, it prints the reasons, not that there are none", async () => {
  const damaged = file("damaged.json", {
    "acme/negative": { ...PLAIN, input_cost_per_token: -1 },
    "acme/free": { ...PLAIN, output_cost_per_token: 0 },
  });
  const all = await models("import", "--from", damaged, "--provider", "acme", "--out", "none");
  expect([all.code, all.err]).toEqual([
    1,
    expect.stringMatching(/none of acme's 2 chat models can be imported.*input_cost_per_token is -1/),
  ]);
  for (const name of ["negative", "acme/negative"]) {
    const one = await models("import", "--from", damaged, "--provider", "acme", "--model", name);
    expect([one.code, one.err]).toEqual([1, expect.stringContaining("input_cost_per_token is -1")]);
  }
});

test("an invalid provider name leaves out its models, and cannot control the terminal", async () => {
  const hostile = file("providers.json", {
    "acme/small": PLAIN,
    small: { ...PLAIN, litellm_provider: "ac\u001b[31m\nme" },
    other: { ...PLAIN, litellm_provider: "../../acme" },
  });
  for (const name of ["elsewhere", "acme"]) {
    const ran = await models(
      "import",
      "--from",
      hostile,
      "--provider",
      name,
      "--out",
      "by-provider",
      "--json",
    );
    expect(ran.out + ran.err).not.toContain("\u001b");
    expect(ran.err).not.toContain("../..");
  }
  const ran = await models("import", "--from", hostile, "--out", "all-providers", "--json");
  const said = JSON.parse(ran.out) as { written: string[]; skipped: { reason: string }[] };
  expect(said.written).toEqual(["all-providers/acme__small.yaml"]);
  expect(said.skipped.map(({ reason }) => reason)).toEqual([
    "its provider's name has characters that are not allowed in one",
    "its provider's name has characters that are not allowed in one",
  ]);
});

test("a duplicate name leaves out its model: which price is meant is unknown", async () => {
  const row = JSON.stringify(PLAIN);
  const dear = JSON.stringify({ ...PLAIN, input_cost_per_token: 1e-9 });
  const inside = row.replace("{", `{"input_cost_per_token":1e-9,`);
  const deep = row.replace("{", `{"tiered_pricing":[{"range":[0,1],"range":[0,2]}],`);
  const path = join(folder, "twice.json");
  writeFileSync(
    path,
    `{"acme/fine":${row},"acme/rows":${row},"acme/ro\\u0077s":${dear},"acme/prices":${inside},"acme/tiers":${deep}}`,
  );
  const ran = await models("import", "--from", path, "--out", "twice", "--json");
  const said = JSON.parse(ran.out) as { written: string[]; skipped: { name: string; reason: string }[] };
  expect(said.written).toEqual(["twice/acme__fine.yaml"]);
  expect(said.skipped.map(({ name, reason }) => [name, reason])).toEqual([
    ["acme/rows", "it appears twice in the table"],
    ["acme/prices", "input_cost_per_token appears twice in it"],
    ["acme/tiers", "range appears twice in it"],
  ]);
});

test("the same in models.dev's tables, where a duplicate provider leaves out all of its models", async () => {
  const model = (input: string): string =>
    `{"cost":{"input":${input},"output":2},"limit":{"context":1000,"output":100},"modalities":{"input":["text"],"output":["text"]}}`;
  const path = join(folder, "twice-dev.json");
  writeFileSync(
    path,
    `{"acme":{"models":{"fine":${model("1")},"prices":${model('1,"input":0.001')},"rows":${model("1")},"rows":${model("2")}}},` +
      `"other":{"models":{"a":${model("1")}}},"other":{"models":{"a":${model("2")}}}}`,
  );
  const ran = await models("import", "--from", path, "--out", "twice-dev", "--json");
  const said = JSON.parse(ran.out) as { written: string[]; skipped: { name: string; reason: string }[] };
  expect(said.written).toEqual(["twice-dev/acme__fine.yaml"]);
  expect(said.skipped.map(({ name, reason }) => [name, reason])).toEqual([
    ["acme/prices", "input appears twice in it"],
    ["acme/rows", "it appears twice in the table"],
    ["other", "its models appear twice in the table"],
  ]);
});

test("without a network and without --from it uses the snapshot; an unknown name is answered with the nearest one", async () => {
  const ran = await models(
    "import",
    "--provider",
    "anthropic",
    "--out",
    "snapshot",
    "--image-tokens",
    "5000",
    "--json",
  );
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.out)).toMatchObject({ source: expect.stringContaining("LiteLLM"), skipped: [] });
  const mistaken = await models("import", "--model", "gpt-5.6-soll");
  expect([mistaken.code, mistaken.err]).toEqual([1, expect.stringContaining("Similar names: gpt-5.6-sol")]);
  expect((await models("import")).err).toContain("--out");
  const claude = ["import", "--model", "claude-opus-5", "--file-tokens", "180000"];
  expect((await models(...claude)).err).toContain("--file-tokens and --file-pages belong together");
  const { out } = await models(...claude, "--file-pages", "100");
  expect(out).toContain('"files": true}\nfile_tokens_max: 180000\nfile_pages_max: 100');
  for (const markup of ["0", "-1", "1e9", "much"])
    expect((await models("import", "--model", "gpt-5.6-sol", "--markup", markup)).code).toBe(2);
}, 120_000);

test("a download is limited: no other host, no endless body, no plain http, a clear message when it fails", async () => {
  const endless = new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(1 << 20)) });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/table") return Response.json({ "acme/small": PLAIN });
      if (pathname === "/moved") return Response.redirect("/table");
      if (pathname === "/away") return Response.redirect("https://elsewhere.example/table");
      if (pathname === "/endless") return new Response(endless);
      return new Response("no", { status: 503 });
    },
  });
  const from = (path: string): Promise<Ran> =>
    models("import", "--model", "small", "--from", `http://127.0.0.1:${server.port}${path}`);
  try {
    expect((await from("/table")).out).toContain(`input_per_million: "0.29"`);
    expect((await from("/moved")).code).toBe(0);
    expect((await from("/away")).err).toContain("elsewhere.example");
    expect((await from("/endless")).err).toContain("larger than 32 MiB");
    expect((await from("/broken")).err).toContain("answered 503");
  } finally {
    await server.stop(true);
  }
  const gone = await from("/table");
  expect([gone.code, gone.err]).toEqual([
    1,
    expect.stringContaining("snapshot that ships with this program"),
  ]);
  expect((await models("import", "--model", "small", "--from", "http://prices.example/table")).err).toContain(
    "https",
  );
  expect((await models("import", "--from", "/dev/zero", "--model", "x")).err).toContain("larger than 32 MiB");
  expect((await models("import", "--from", "nowhere.json", "--model", "x")).err).toContain("cannot be read");
}, 120_000);

// `tollgate setup`: what is written for each agent, what stays, what is shown first. test/agents/ tests that the
// agents work with it.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText } from "ai";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { MODELS, READER, VECTORS } from "../support/models.ts";
import { type Ran, Terminal } from "../support/terminal.ts";

let gateway: TestGateway;
let customer: Customer;
const terminal = new Terminal();
const folder = join(terminal.home, "config", "opencode");
const file = join(folder, "opencode.json");

beforeAll(async () => {
  gateway = await startGateway({ models: [...MODELS, VECTORS] });
  customer = await gateway.customer();
});
afterAll(async () => {
  await gateway.stop();
  terminal.close();
});
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
});

const setup = (...args: string[]): Promise<Ran> =>
  terminal.run(["setup", "opencode", "--url", `${gateway.url}/v1`, ...args], {
    TOLLGATE_KEY: customer.secret,
    MY_KEY: customer.secret,
    OPENCODE_CONFIG: "",
  });

interface Config {
  $schema?: string;
  provider: Record<
    string,
    {
      npm: string;
      name: string;
      options: { baseURL: string; apiKey: string; timeout?: number };
      models: Record<
        string,
        {
          limit: { context: number; output: number };
          tool_call: boolean;
          name?: string;
          modalities?: { input: string[] };
        }
      >;
    }
  >;
}
const read = (path = file): Config => JSON.parse(readFileSync(path, "utf8")) as Config;

test("a new file names the gateway, its models and where the key is, not the key", async () => {
  rmSync(folder, { recursive: true });
  const ran = await setup("--yes");
  expect(ran.code).toBe(0);
  const { $schema, provider } = read();
  expect($schema).toBe("https://opencode.ai/config.json");
  const entry = provider["tollgate"];
  expect(entry).toMatchObject({
    npm: "@ai-sdk/openai-compatible",
    options: { baseURL: `${gateway.url}/v1`, apiKey: "{env:TOLLGATE_KEY}" },
  });
  const offered = await gateway.get<{ data: { id: string; context_length: number }[] }>(
    customer,
    "/v1/models",
  );
  expect(Object.entries(entry?.models ?? {}).map(([id, { limit }]) => [id, limit.context])).toEqual(
    offered.json.data
      .filter(({ id }) => id !== VECTORS.model)
      .map(({ id, context_length }) => [id, context_length]),
  );
  expect(readFileSync(file, "utf8") + ran.out + ran.err).not.toContain(customer.secret);
  expect((await setup("--yes", "--json")).out).toContain('"written":false');
});

test("what is written works with the package that it names", async () => {
  await setup("--yes");
  const { options, models } = read().provider["tollgate"] as Config["provider"][string];
  const [id = ""] = Object.keys(models);
  const apiKey = options.apiKey.replace("{env:TOLLGATE_KEY}", customer.secret);
  const provider = createOpenAICompatible({ name: "tollgate", baseURL: options.baseURL, apiKey });
  const { text } = await generateText({ model: provider(id), prompt: "Say hello", maxOutputTokens: 20 });
  expect(text.length).toBeGreaterThan(0);
});

test("the file's other content stays, with its indentation and its mode; secrets are not shown", async () => {
  const before = {
    model: "anthropic/claude",
    provider: {
      anthropic: { options: { apiKey: "sk-of-somebody-else" } },
      tollgate: {
        name: "Work",
        npm: "@ai-sdk/anthropic",
        options: { baseURL: "http://old/v1", apiKey: "gw_sk_written_out", timeout: 1000 },
        models: { "plain-1": { name: "Mine" }, "gone-1": {} },
      },
    },
    keybinds: { leader: "ctrl+x" },
  };
  writeFileSync(file, `${JSON.stringify(before, null, "\t")}\n`);
  chmodSync(file, 0o640);
  const { err } = await setup("--yes");
  expect(err).toMatch(/^- .*"baseURL": "http:\/\/old\/v1"/m);
  expect(err).toMatch(/^- .*gone-1/m);
  expect(err).not.toContain("gw_sk_written_out");
  expect(err).not.toContain("sk-of-somebody-else");
  const after = read();
  const { provider: _, ...others } = after as Config & Record<string, unknown>;
  expect(others).toEqual({ model: "anthropic/claude", keybinds: { leader: "ctrl+x" } });
  expect(after.provider["anthropic"] as unknown).toEqual(before.provider.anthropic);
  expect(after.provider["tollgate"]).toMatchObject({
    name: "Work",
    npm: "@ai-sdk/anthropic",
    options: { timeout: 1000 },
  });
  expect(after.provider["tollgate"]?.models["plain-1"]).toMatchObject({
    name: "Mine",
    limit: { context: expect.any(Number) as number },
  });
  expect(after.provider["tollgate"]?.models).not.toHaveProperty("gone-1");
  expect(readFileSync(file, "utf8")).toContain('\n\t"model"');
  expect(statSync(file).mode & 0o777).toBe(0o640);
});

test("--dry-run shows it and writes nothing; without --yes and a terminal nothing is asked or written", async () => {
  const dry = await setup("--dry-run", "--json");
  expect([dry.code, dry.err]).toEqual([0, expect.stringMatching(/^\+ .*"tollgate": \{/m)]);
  expect(JSON.parse(dry.out)).toMatchObject({ file, written: false });
  const silent = await setup();
  expect([silent.code, silent.err]).toEqual([1, expect.stringContaining("--yes")]);
  expect(existsSync(file)).toBe(false);
});

test.each([
  ["a comment", '{\n  // mine\n  "model": "a/b"\n}\n'],
  ["a comma at the end", '{ "model": "a/b", }'],
  ["a key twice", '{ "model": "a/b", "model": "c/d" }'],
  ["a provider of another kind", '{ "provider": [] }'],
])("%s is not lost: what to paste is printed instead", async (_, text) => {
  const commented = join(folder, "opencode.jsonc");
  writeFileSync(commented, text);
  const ran = await setup("--yes");
  expect([ran.code, ran.err]).toEqual([1, expect.stringContaining('"apiKey": "{env:TOLLGATE_KEY}"')]);
  expect(readFileSync(commented, "utf8")).toBe(text);
  expect(existsSync(file)).toBe(false);
});

test("another file and another variable; a link to the file stays one", async () => {
  const real = join(terminal.home, "dotfiles", "opencode.json");
  mkdirSync(dirname(real), { recursive: true });
  writeFileSync(real, "{}\n");
  symlinkSync(real, file);
  expect((await setup("--yes", "--file", file, "--key-env", "MY_KEY")).code).toBe(0);
  expect(read(real).provider["tollgate"]?.options.apiKey).toBe("{env:MY_KEY}");
  expect(read(file)).toEqual(read(real));
});

test("without a key, or with an invalid one, it says what to do", async () => {
  const missing = await setup("--yes", "--key-env", "NOT_SET_ANYWHERE");
  expect([missing.code, missing.err]).toEqual([
    1,
    expect.stringContaining("export NOT_SET_ANYWHERE=gw_sk_…"),
  ]);
  const wrong = await terminal.run(["setup", "opencode", "--url", gateway.url, "--yes"], {
    TOLLGATE_KEY: "gw_sk_no",
  });
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining("./tollgate keys create")]);
  expect(existsSync(file)).toBe(false);
});

test("it writes what a model reads besides text: images, PDFs, or neither", async () => {
  expect((await gateway.publish(READER)).status).toBeLessThan(300);
  expect((await setup("--yes")).code).toBe(0);
  const models = read().provider["tollgate"]?.models ?? {};
  expect(models["reader-1"]?.modalities?.input).toEqual(["text", "image", "pdf"]);
  expect(models["base-preview-v1"]?.modalities?.input).toEqual(["text", "image"]);
  expect(models["plain-1"]).not.toHaveProperty("modalities");
});

/** `setup` for an agent whose configuration names one model, with its file in a separate home. */
const setupOther = (agent: string, ...args: string[]): Promise<Ran> =>
  terminal.run(["setup", agent, "--url", `${gateway.url}/v1`, ...args], {
    TOLLGATE_KEY: customer.secret,
    CODEX_HOME: folder,
    CLAUDE_CONFIG_DIR: folder,
  });
const profile = join(folder, "tollgate.config.toml");
const settings = join(folder, "tollgate.json");

test("codex gets a profile of its own, which names the key's variable; config.toml is left alone", async () => {
  const others = join(folder, "config.toml");
  writeFileSync(others, 'model = "theirs"\n');
  const ran = await setupOther("codex", "--yes", "--model", "base-preview-v2");
  expect([ran.code, ran.out]).toEqual([0, expect.stringContaining("codex --profile tollgate")]);
  expect(Bun.TOML.parse(readFileSync(profile, "utf8"))).toEqual({
    model: "base-preview-v2",
    model_provider: "tollgate",
    model_context_window: 131_072,
    web_search: "disabled",
    model_providers: {
      tollgate: {
        name: "Tollgate",
        base_url: `${gateway.url}/v1`,
        env_key: "TOLLGATE_KEY",
        wire_api: "responses",
        request_max_retries: 2,
        stream_max_retries: 2,
      },
    },
  });
  expect(readFileSync(others, "utf8")).toBe('model = "theirs"\n');
  expect(readFileSync(profile, "utf8") + ran.out + ran.err).not.toContain(customer.secret);
  expect(
    JSON.parse((await setupOther("codex", "--yes", "--json", "--model", "base-preview-v2")).out),
  ).toEqual({
    file: profile,
    models: ["base-preview-v2"],
    written: false,
    kept: null,
  });
});

test("another model replaces the old one, which is kept; what a person wrote into the profile is not lost", async () => {
  await setupOther("codex", "--yes");
  const before = readFileSync(profile, "utf8");
  const ran = await setupOther("codex", "--yes", "--json", "--model", "base-preview-v2");
  expect(ran.err).toMatch(/^- model = "base-preview-v1"$/m);
  const { kept } = JSON.parse(ran.out) as { kept: string };
  expect(readFileSync(kept, "utf8")).toBe(before);
  const theirs = `${before}\n[tools]\nview_image = false\n`;
  writeFileSync(profile, theirs);
  const refused = await setupOther("codex", "--yes");
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('env_key = "TOLLGATE_KEY"')]);
  expect(readFileSync(profile, "utf8")).toBe(theirs);
  expect(readFileSync(kept, "utf8")).toBe(before);
});

interface Settings {
  apiKeyHelper: string;
  env: Record<string, string>;
}

test("claude-code gets settings of its own: address without /v1, a helper instead of the key, the model's limits", async () => {
  const ran = await setupOther("claude-code", "--yes");
  expect([ran.code, ran.out]).toEqual([0, expect.stringContaining(`claude --settings ${settings}`)]);
  const { apiKeyHelper, env } = JSON.parse(readFileSync(settings, "utf8")) as Settings;
  expect(apiKeyHelper).toBe("printenv TOLLGATE_KEY");
  expect(env).toEqual({
    ANTHROPIC_BASE_URL: gateway.url,
    ANTHROPIC_MODEL: "base-preview-v1",
    ANTHROPIC_DEFAULT_OPUS_MODEL: "base-preview-v1",
    ANTHROPIC_DEFAULT_SONNET_MODEL: "base-preview-v1",
    ANTHROPIC_DEFAULT_HAIKU_MODEL: "base-preview-v1",
    ANTHROPIC_DEFAULT_FABLE_MODEL: "base-preview-v1",
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: "8192",
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: "131072",
  });
  expect(ran.err).toMatch(/^\+ .*"apiKeyHelper": "printenv TOLLGATE_KEY"/m);
  expect(ran.err).not.toContain(customer.secret);
});

test("claude-code's own settings keep their content; a key that would override the gateway's is refused", async () => {
  const named = join(folder, "settings.json");
  const env = { ANTHROPIC_DEFAULT_HAIKU_MODEL: "base-preview-v2", DISABLE_TELEMETRY: "1" };
  writeFileSync(named, JSON.stringify({ model: "opus", env }));
  expect((await setupOther("claude-code", "--yes", "--file", named)).code).toBe(0);
  const after = JSON.parse(readFileSync(named, "utf8")) as Settings;
  expect(after).toMatchObject({ model: "opus", env: { ...env, ANTHROPIC_BASE_URL: gateway.url } });
  const theirs = JSON.stringify({ env: { ANTHROPIC_AUTH_TOKEN: "sk-ant-theirs" } });
  writeFileSync(named, theirs);
  const ran = await setupOther("claude-code", "--yes", "--file", named);
  expect([ran.code, ran.err]).toEqual([1, expect.stringContaining("ANTHROPIC_AUTH_TOKEN")]);
  expect(ran.err).not.toContain("sk-ant-theirs");
  expect(readFileSync(named, "utf8")).toBe(theirs);
});

test.each(["claude-code", "codex"])("%s needs a model with tools", async (agent) => {
  for (const model of ["plain-1", "nope"]) {
    const ran = await setupOther(agent, "--yes", "--model", model);
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining("base-preview-v1")]);
  }
  expect([existsSync(profile), existsSync(settings)]).toEqual([false, false]);
});

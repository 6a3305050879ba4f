// `tollgate setup`: what is written for opencode, what stays, what is shown first; the agents that cannot be served.
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

test("what stands in the file stays, with its indentation and its mode; secrets are not shown", async () => {
  const before = {
    model: "anthropic/claude",
    provider: {
      anthropic: { options: { apiKey: "sk-of-somebody-else" } },
      tollgate: {
        name: "Work",
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
  expect(after.provider["tollgate"]).toMatchObject({ name: "Work", options: { timeout: 1000 } });
  expect(after.provider["tollgate"]?.models["plain-1"]).toMatchObject({
    name: "Mine",
    limit: { context: expect.any(Number) as number },
  });
  expect(after.provider["tollgate"]?.models).not.toHaveProperty("gone-1");
  expect(readFileSync(file, "utf8")).toContain('\n\t"model"');
  expect(statSync(file).mode & 0o777).toBe(0o640);
});

test("--dry-run shows it and writes nothing; without --yes nobody is asked and nothing written", async () => {
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

test("without a key, or with one that is none, it says what to do", async () => {
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

test.each(["claude-code", "codex"])(
  "%s speaks another API: it says so and what works instead",
  async (agent) => {
    const ran = await terminal.run(["setup", agent, "--dry-run"]);
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining("this gateway serves chat completions")]);
    expect(ran.err).toContain("./tollgate setup opencode");
  },
);

test("what a model reads beside text is told: images, PDFs, or neither", async () => {
  expect((await gateway.publish(READER)).status).toBeLessThan(300);
  expect((await setup("--yes")).code).toBe(0);
  const models = read().provider["tollgate"]?.models ?? {};
  expect(models["reader-1"]?.modalities?.input).toEqual(["text", "image", "pdf"]);
  expect(models["base-preview-v1"]?.modalities?.input).toEqual(["text", "image"]);
  expect(models["plain-1"]).not.toHaveProperty("modalities");
});

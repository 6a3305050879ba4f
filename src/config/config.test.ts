import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "./config.ts";
import { configurations } from "./config.fixtures.ts";
import { settingsDigest } from "./file-digest.ts";
import { OPTIONAL_FIELDS } from "../domain/request-fields.ts";
import { PROVIDER_KINDS } from "../providers/kinds.ts";
import { DIALECTS } from "../providers/openai/dialects.ts";

const { cwd, load, complaint, remove } = configurations();
afterAll(remove);

/** All objects in a configuration but the kinds of providers and the fields of their dialects, which are the program's. */
function objectsIn(value: unknown, found = new Set<object>()): Set<object> {
  if (typeof value !== "object" || value === null || PROVIDER_KINDS.includes(value as never)) return found;
  if (Object.values(DIALECTS).some(({ fields }) => fields === value)) return found;
  found.add(value);
  for (const inner of Object.values(value)) objectsIn(inner, found);
  return found;
}

describe("defaults", () => {
  test("no two configurations share a value that could be changed in one of them", () => {
    const yaml = "providers: [{ name: other, kind: vllm, base_url: https://api.example.com/v1 }]";
    for (const text of [null, yaml]) {
      const first = objectsIn(load(text));
      expect(first.size).toBeGreaterThan(10);
      expect([...objectsIn(load(text))].filter((one) => first.has(one))).toEqual([]);
    }
  });

  test("the example file says what the defaults are", () => {
    const example = loadConfig({
      env: {},
      cwd,
      flags: { config: join(import.meta.dir, "../../tollgate.example.yaml") },
    });
    expect(example).toEqual({
      ...load(null),
      file: example.file,
      fileDigest: example.fileDigest,
      dataDir: example.dataDir,
    });
  });

  test("without any configuration the simulator is the only provider and no release key is trusted yet", () => {
    const config = load(null);
    expect(config.providers.map(({ name, kind, baseUrl }) => ({ name, kind: kind.name, baseUrl }))).toEqual([
      { name: "simulator", kind: "simulator", baseUrl: null },
    ]);
    expect(config).toMatchObject({
      file: null,
      listen: { host: "127.0.0.1", port: 8080 },
      server: { trustedProxies: [] },
      dataDir: join(cwd, "data"),
      databaseUrl: null,
      trust: null,
      limits: { bodyBytes: 8_388_608, maxConcurrent: 4096, answerTimeoutMs: 290_000, keyConcurrent: null },
      idempotency: { bodyRetentionMs: 86_400_000, tombstoneRetentionMs: 2_592_000_000, attachWaitMs: 60_000 },
      log: { level: "info", content: "never" },
    });
  });

  test("an empty file changes nothing", () => {
    expect(load("# nothing\n")).toEqual({
      ...load(null),
      file: expect.any(String),
      fileDigest: settingsDigest("# nothing\n"),
    });
  });
});

describe("order", () => {
  const yaml = "listen: { port: 7001, host: 10.0.0.1 }\n";
  test("the file goes over defaults", () => expect(load(yaml).listen.port).toBe(7001));
  test("the environment goes over the file", () => {
    expect(load(yaml, { env: { PORT: "7002" } }).listen).toEqual({ host: "10.0.0.1", port: 7002 });
  });
  test("flags go over the environment", () => {
    const listen = load(yaml, { env: { PORT: "7002" }, flags: { port: "7003", host: "::1" } }).listen;
    expect(listen).toEqual({ host: "::1", port: 7003 });
  });
  test("DATABASE_URL names the store", () => {
    expect(load(null, { env: { DATABASE_URL: "postgres://db/x" } }).databaseUrl).toBe("postgres://db/x");
  });
  test("./tollgate.yaml is read if no file is named; TOLLGATE_CONFIG takes precedence", () => {
    const here = mkdtempSync(join(cwd, "cwd-"));
    writeFileSync(join(here, "tollgate.yaml"), "listen: { port: 7010 }");
    writeFileSync(join(here, "other.yaml"), "listen: { port: 7011 }");
    expect(loadConfig({ env: {}, cwd: here, flags: {} }).listen.port).toBe(7010);
    const env = { TOLLGATE_CONFIG: "other.yaml" };
    expect(loadConfig({ env, cwd: here, flags: {} }).listen.port).toBe(7011);
  });
  test.each(["tollgate.yml", "tollgate.json"])("an unnamed %s is not silently ignored", (name) => {
    const here = mkdtempSync(join(cwd, "cwd-"));
    writeFileSync(join(here, name), '{ "listen": { "port": 7010 } }');
    expect(() => loadConfig({ env: {}, cwd: here, flags: {} })).toThrow(
      `rename it to tollgate.yaml, or use --config ${name}`,
    );
    expect(loadConfig({ env: {}, cwd: here, flags: { config: name } }).listen.port).toBe(7010);
  });
  test("an empty variable is reported once", () => {
    expect(complaint("", { env: { DATABASE_URL: "" } })).toBe(
      "database_url (from DATABASE_URL): must not be empty",
    );
  });
  test("paths in the file are relative to the file, those in flags to the working directory", () => {
    const far = mkdtempSync(join(cwd, "far-"));
    writeFileSync(join(far, "k.jwk"), "{}");
    const config = join(far, "t.yaml");
    writeFileSync(config, "data_dir: ./d\ntrust: { release_keys: [k.jwk] }");
    expect(loadConfig({ env: {}, cwd, flags: { config } })).toMatchObject({
      dataDir: join(far, "d"),
      trust: { releaseKeys: [join(far, "k.jwk")] },
    });
    expect(loadConfig({ env: {}, cwd, flags: { config, dataDir: "e" } }).dataDir).toBe(join(cwd, "e"));
  });
});

describe("dialects", () => {
  const dialectOf = (yaml: string) =>
    load(`providers: [{ name: a, kind: openai, base_url: "http://h/v1"${yaml} }]`).providers[0]?.own;
  test("a provider speaks OpenAI's own unless told otherwise", () => {
    expect(dialectOf("")).toEqual({
      dialect: {
        outputMaximum: "max_completion_tokens",
        developerRole: true,
        files: true,
        textParts: true,
        thinking: "effort",
        thoughts: "calls",
        strictTurns: false,
        reasoningDetails: false,
        fields: OPTIONAL_FIELDS,
      },
    });
  });
  test("a preset is taken whole, or with single points changed", () => {
    expect(dialectOf(", dialect: { preset: deepseek }")).toEqual({ dialect: DIALECTS.deepseek });
    expect(
      dialectOf(
        ", dialect: { preset: deepseek, developer_role: true, output_maximum: max_completion_tokens, files: true, text_parts: false, thinking: switch, thoughts: never, strict_turns: true, reasoning_details: true, fields: [] }",
      ),
    ).toEqual({
      dialect: {
        outputMaximum: "max_completion_tokens",
        developerRole: true,
        files: true,
        fields: [],
        textParts: false,
        thinking: "switch",
        thoughts: "never",
        strictTurns: true,
        reasoningDetails: true,
      },
    });
  });
});

describe("payments", () => {
  const env = { STRIPE_SECRET_KEY: "sk_test_1", STRIPE_WEBHOOK_SECRET: "whsec_1" };
  test("the driver is stripe with its secrets, else test in a demo, else manual", () => {
    expect(load(null, { env }).payments).toMatchObject({
      driver: "stripe",
      stripe: { secretKey: "sk_test_1", webhookSecret: "whsec_1", apiUrl: null },
    });
    expect(load(null).payments.driver).toBe("test");
    writeFileSync(join(cwd, "release.jwk"), "{}");
    expect(load("trust: { release_keys: [release.jwk] }").payments.driver).toBe("manual");
    expect(load("payments: { driver: manual }", { env }).payments.driver).toBe("manual");
  });
  test.each([
    [
      "an empty webhook secret",
      { ...env, STRIPE_WEBHOOK_SECRET: "" },
      /stripe_webhook_secret \(from STRIPE_/,
    ],
    ["a blank one", { ...env, STRIPE_WEBHOOK_SECRET: "whsec_ " }, /stripe_webhook_secret/],
    ["a secret key without a webhook secret", { STRIPE_SECRET_KEY: "sk_1" }, /must be set together/],
    ["a webhook secret without a secret key", { STRIPE_WEBHOOK_SECRET: "whsec_1" }, /must be set together/],
    ["the two in each other's place", { STRIPE_SECRET_KEY: "whsec_1", STRIPE_WEBHOOK_SECRET: "sk_1" }, /sk_/],
    ["a publishable key", { ...env, STRIPE_SECRET_KEY: "pk_1" }, /secret or restricted key/],
  ])("%s stops the start", (_, badEnv, message) => {
    expect(complaint(null, { env: badEnv })).toMatch(message);
  });
  test("stripe without secrets, and a maximum below the minimum, stop the start", () => {
    expect(complaint("payments: { driver: stripe }")).toMatch(/stripe_secret_key: is required/);
    expect(complaint('payments: { minimum_usd: "50", maximum_usd: "10" }')).toMatch(/maximum_usd: must not/);
    expect(complaint("payments: { minimum_usd: 5 }")).toMatch(/minimum_usd/);
  });
});

describe("refused with the path", () => {
  const cases: [string, string, RegExp][] = [
    [
      "a slip",
      "listen: { prot: 1 }",
      /:1: listen\.prot: there is no such setting\. Did you mean listen\.port\?$/,
    ],
    ["a slip in a group", "limit: {}", /:1: limit: there is no such setting\. Did you mean limits\?$/],
    [
      "a setting at the top",
      "port: 1",
      /:1: port: there is no such setting\. Did you mean listen\.port or mail\.port\?$/,
    ],
    [
      "one in another group",
      "server: { port: 1 }",
      /such setting\. Did you mean listen\.port or mail\.port\?$/,
    ],
    ["one that several have", "name: a", /:1: name: there is no such setting$/],
    [
      "a slip in a provider",
      "providers: [{ name: a, kind: simulator, api_kye: x }]",
      /providers\[0\]\.api_kye: there is no such setting\. Did you mean providers\[0\]\.api_key\?$/,
    ],
    ["an unknown field on top", "a: 1\nlog: {}\n", /:1: a: there is no such setting$/],
    ["__proto__", "listen: { __proto__: { host: x } }", /listen\.__proto__: there is no such setting/],
    ["port 70000", "listen:\n  port: 70000", /:2: listen\.port: must be 65535 or less$/],
    ["a negative size", "limits: { body_bytes: -1 }", /:1: limits\.body_bytes: must be 1024 or more$/],
    [
      "a size above 2^53, once",
      "limits: { body_bytes: 9007199254740993 }",
      /^[^\n]*:1: limits\.body_bytes: must be 67108864 or less$/,
    ],
    ["a fractional size", "limits: { body_bytes: 1.5 }", /limits\.body_bytes: must be a whole number$/m],
    [
      "a quoted number",
      'limits: { request_timeout_ms: "10" }',
      /: must be a number, without quotes or unit$/,
    ],
    ["a number for a text", "listen: { host: 7 }", /listen\.host: must be text in quotes$/],
    ["a text for a group", "limits: none", /:1: limits: must be a group of settings$/],
    ["a text for a list", "providers: acme", /:1: providers: must be a list$/],
    ["a text for a switch", 'headers: { rate_limit: "yes" }', /rate_limit: must be true or false$/],
    [
      "a proxy by name",
      "server: { trusted_proxies: [proxy] }",
      /server\.trusted_proxies.*: must be an address/,
    ],
    ["a network too long", "server: { trusted_proxies: [10.0.0.0/33] }", /must be an address or a network/],
    ["a fractional port", "listen: { port: 80.5 }", /listen\.port: /],
    ["text for a number", "limits: { body_bytes: 8MB }", /limits\.body_bytes: .*number/],
    [
      "a duration without unit",
      "idempotency: { attach_wait: 60 }",
      /idempotency\.attach_wait: must be a whole number and a unit, like 60s, 24h or 30d$/,
    ],
    ["dollars without quotes", "payments: { minimum_usd: 5 }", /minimum_usd: must be whole US .* like "5"$/],
    [
      "no dollars, said once",
      'payments: { minimum_usd: "five" }',
      /^[^\n]*:1: payments\.minimum_usd: must be whole US dollars in quotes, like "5"$/,
    ],
    ["a fractional duration", "idempotency: { attach_wait: 1.5h }", /idempotency\.attach_wait: must be/],
    ["logging content", "log: { content: always }", /log\.content: must be never$/],
    ["no providers", "providers: []", /providers: needs at least one/],
    [
      "openai without base_url",
      "providers: [{ name: a, kind: openai }]",
      /providers\[0\]\.base_url: is required/,
    ],
    [
      "two providers with the same name",
      "providers: [{ name: a, kind: simulator }, { name: a, kind: simulator }]",
      /:1: providers\[1\]\.name: a is the name of providers\[0\] too; give each provider a name of its own$/,
    ],
    [
      "an unknown dialect",
      "providers: [{ name: a, kind: simulator, dialect: { preset: gopher } }]",
      /:1: providers\[0\]\.dialect\.preset: must be one of openai, deepseek,/,
    ],
    [
      "another name for the output maximum",
      "providers: [{ name: a, kind: simulator, dialect: { output_maximum: max_output_tokens } }]",
      /dialect\.output_maximum: must be one of max_tokens, max_completion_tokens/,
    ],
    [
      "a field that is not optional",
      "providers: [{ name: a, kind: simulator, dialect: { fields: [seed, messages] } }]",
      /dialect\.fields\[1\]: must be one of top_p,/,
    ],
    [
      "a dialect's misspelt setting",
      "providers: [{ name: a, kind: simulator, dialect: { developer: false } }]",
      /dialect\.developer: there is no such setting/,
    ],
    [
      "an unknown kind",
      "providers: [{ name: a, kind: gopher }]",
      /:1: providers\[0\]\.kind: must be one of openai, mistral,/,
    ],
    [
      "a base_url with credentials",
      "providers: [{ name: a, kind: simulator, base_url: 'http://u:p@h/' }]",
      /base_url/,
    ],
    ["a file address", "public_url: file:///etc", /public_url: must be/],
    ["an empty trust list", "trust: { release_keys: [] }", /trust\.release_keys: needs/],
    [
      "a trust file that is not there",
      "trust: { release_keys: [nope.jwk] }",
      /:1: trust\.release_keys\[0\]: there is no file \/.*\/nope\.jwk$/,
    ],
    ["another database", "database_url: mysql://x", /database_url: must begin with postgres/],
    ["a list on top", "- a", /must be a group of settings$/],
    ["an address of the API", "public_url: https://gate.example.com/v1/", /public_url: must not end in \/v1/],
    ["broken YAML", "\nlisten: [", /\.yaml:2: is not valid YAML: [^\n]+$/],
    [
      "broken YAML beside a secret, which is not shown",
      "mail: { password: hunter2, host: [ }\n",
      /^(?!.*hunter2).*\.yaml:1: is not valid YAML: [^\n]+$/s,
    ],
    [
      "two documents",
      "log: {}\n---\nlog: {}",
      /\.yaml:2: .*several documents \(separated by ---\); keep one$/,
    ],
    ["a key written twice", "log: {}\nlog: {}", /\.yaml:2: is not valid YAML: Map keys must be unique$/],
    [
      "an alias bomb",
      `a: &a [x,x]\n${bomb("b", "a")}${bomb("c", "b")}${bomb("d", "c")}`,
      /cannot be read|no such setting/,
    ],
  ];
  test.each(cases)("%s", (_, yaml, message) => expect(complaint(yaml)).toMatch(message));

  test("a port that is no number names where it came from", () => {
    expect(complaint(null, { env: { PORT: "http" } })).toStartWith("listen.port (from PORT): ");
    expect(complaint(null, { flags: { port: "70000" } })).toStartWith("listen.port (from --port): ");
  });
  test("all problems are reported at once", () => {
    expect(complaint("a: 1\nlisten: { port: x }").split("\n")).toHaveLength(2);
    expect(complaint("trust: { release_keys: [a.jwk, b.jwk] }").split("\n")).toHaveLength(2);
  });
  test("a configuration file that is not there", () => {
    expect(complaint(null, { flags: { config: "nowhere.yaml" } })).toContain(
      "nowhere.yaml: there is no such",
    );
  });
});

function bomb(name: string, of: string): string {
  return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${of}`).join(",")}]\n`;
}

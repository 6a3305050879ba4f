// A vendor takes three lines of configuration, and a setting that cannot work is reported with its path and a remedy
// before anything starts.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROVIDER_KINDS } from "../providers/kinds.ts";
import { DIALECTS } from "../providers/openai/dialects.ts";
import { ConfigError, loadConfig, type ProviderConfig } from "./config.ts";

const cwd = mkdtempSync(join(tmpdir(), "tollgate-kinds-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

function load(settings: string): ProviderConfig {
  const file = join(cwd, "tollgate.yaml");
  writeFileSync(file, `providers:\n  - { name: a, ${settings} }\n`);
  const [provider] = loadConfig({ env: {}, cwd, flags: { config: file } }).providers;
  if (provider === undefined) throw new Error("no provider");
  return provider;
}

function complaint(settings: string): string {
  try {
    load(settings);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.replace(/^.*?:2: providers\[0\]\./, "");
    throw error;
  }
  throw new Error("was accepted");
}

const AWS = "access_key_id: AKIDEXAMPLE123456, secret_access_key: s";

describe("a name, a kind and a key", () => {
  test.each([
    ["mistral", "https://api.mistral.ai/v1", "mistral"],
    ["deepseek", "https://api.deepseek.com/v1", "deepseek"],
    ["groq", "https://api.groq.com/openai/v1", "groq"],
    ["xai", "https://api.x.ai/v1", "xai"],
    ["moonshot", "https://api.moonshot.ai/v1", "moonshot"],
    ["openrouter", "https://openrouter.ai/api/v1", "openrouter"],
    ["together", "https://api.together.xyz/v1", "together"],
    ["fireworks", "https://api.fireworks.ai/inference/v1", "fireworks"],
    ["cerebras", "https://api.cerebras.ai/v1", "cerebras"],
    ["perplexity", "https://api.perplexity.ai", "perplexity"],
    ["gemini-openai", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini"],
  ] as const)("%s", (kind, baseUrl, dialect) => {
    const provider = load(`kind: ${kind}, api_key: k-1`);
    expect([provider.kind.name, provider.baseUrl]).toEqual([kind, baseUrl]);
    expect(provider.own).toEqual({ api_key: "k-1", dialect: DIALECTS[dialect] });
    expect(provider.kind.credential.given(provider.own)).toBe(true);
    expect(complaint(`kind: ${kind}`)).toStartWith("api_key: is required");
    // A stand-in for the vendor may need no key.
    expect(load(`kind: ${kind}, base_url: "http://127.0.0.1:9/v1"`).baseUrl).toBe("http://127.0.0.1:9/v1");
  });

  test.each(PROVIDER_KINDS.map(({ name }) => name))(
    "%s at what is no address: the setting is named, whatever the kind makes of addresses",
    (kind) => {
      for (const noAddress of ["api.acme.example", "https://", "api.acme.example:8443/v1"])
        expect(complaint(`kind: ${kind}, api_key: k-1, base_url: "${noAddress}"`)).toStartWith(
          "base_url: must be an http:// or https:// address",
        );
    },
  );

  test("a local server needs no key", () => {
    expect(load("kind: ollama").baseUrl).toBe("http://127.0.0.1:11434/v1");
    expect(load('kind: vllm, base_url: "http://gpu:8000/v1"').own).toEqual({ dialect: DIALECTS.vllm });
    expect(complaint("kind: vllm")).toBe(
      "base_url: is required for this kind of provider, e.g. http://127.0.0.1:8000/v1",
    );
  });

  test("Azure: its resource's address, and a key or an application", () => {
    const at = 'kind: azure, base_url: "https://r.openai.azure.com/openai/v1/"';
    const application = "entra: { tenant: t, client_id: c, client_secret: s }";
    expect(load(`${at}, api_key: k`)).toMatchObject({
      baseUrl: "https://r.openai.azure.com/openai/v1",
      own: { api_key: "k", dialect: DIALECTS.azure },
    });
    expect(load(`${at}, ${application}`).own).toMatchObject({
      entra: { tenant: "t", authority: "https://login.microsoftonline.com" },
    });
    expect(complaint("kind: azure, api_key: k")).toContain("https://my-resource.openai.azure.com/openai/v1");
    expect(complaint(at)).toStartWith("api_key: is required, or entra: ");
    expect(complaint(`${at}, api_key: k, ${application}`)).toStartWith(
      "entra: cannot be combined with api_key",
    );
    expect(complaint('kind: azure, api_key: k, base_url: "https://r.openai.azure.com"')).toStartWith(
      "base_url: must end in /openai/v1",
    );
    expect(complaint(`${at}, entra: { tenant: t, client_id: c }`)).toStartWith("entra.client_secret: ");
    expect(complaint(`${at}, entra: { tenant: "t/../x", client_id: c, client_secret: s }`)).toStartWith(
      "entra.tenant: must be",
    );
  });

  test("Bedrock: the region determines the host; a key, or a key pair that signs", () => {
    expect(load("kind: bedrock-openai, region: eu-central-1, api_key: k").baseUrl).toBe(
      "https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1",
    );
    expect(load(`kind: bedrock-openai, region: us-gov-west-1, ${AWS}`).baseUrl).toContain("us-gov-west-1");
    expect(complaint("kind: bedrock-openai, api_key: k")).toBe(
      "region: is required: the AWS region to call, e.g. us-east-1",
    );
    expect(complaint("kind: bedrock-openai, api_key: k, region: Frankfurt")).toStartWith("region: must be");
    const here = "kind: bedrock-openai, region: us-east-1";
    expect(complaint(here)).toStartWith("api_key: is required, or access_key_id");
    expect(complaint(`${here}, api_key: k, ${AWS}`)).toStartWith(
      "access_key_id: cannot be combined with api_key",
    );
    expect(complaint(`${here}, access_key_id: AKIDEXAMPLE123456`)).toStartWith(
      "secret_access_key: is required",
    );
    expect(complaint(`${here}, secret_access_key: s`)).toStartWith("access_key_id: is required");
    expect(complaint(`${here}, api_key: AKIDEXAMPLE, session_token: t`)).toStartWith("session_token: ");
    expect(complaint(`${here}, api_key: AKIAEXAMPLE123456`)).toStartWith("api_key: is an access key id");
    expect(complaint(`${here}, access_key_id: ASIAEXAMPLE123456, secret_access_key: s`)).toStartWith(
      "session_token: is required",
    );
    expect(complaint(`${here}, access_key_id: akia, secret_access_key: s`)).toStartWith(
      "access_key_id: must be",
    );
  });

  test("AWS: a role instead of a key, from each source of roles", () => {
    const here = "region: us-east-1, role:";
    const machine = `${here} { from: instance }`;
    for (const kind of ["bedrock-openai", "bedrock", "anthropic, envelope: bedrock"]) {
      const provider = load(`kind: ${kind}, ${machine}`);
      expect(provider.own).toMatchObject({ role: { from: "instance", url: "http://169.254.169.254" } });
      expect(provider.kind.credential.given(provider.own)).toBe(true);
      expect(JSON.stringify(provider.kind.shown(provider.own))).not.toContain("169.254");
    }
    const container = (rest: string): string => `kind: bedrock, ${here} { from: container, ${rest} }`;
    const identity = (rest: string): string => `kind: bedrock, ${here} { from: web_identity, ${rest} }`;
    const role_arn = '"arn:aws:iam::123456789012:role/a/b"';
    for (const uri of ["http://169.254.170.2/v2/x", "http://[fd00:ec2::23]/v1/credentials", "https://h/x"])
      load(container(`uri: "${uri}", token_file: /var/run/token`));
    expect(load(identity(`role_arn: ${role_arn}, token_file: /var/run/token`)).own).toMatchObject({
      role: { session_name: "tollgate" },
    });
    for (const [settings, said] of [
      [`kind: bedrock, ${machine}, api_key: k`, "role: cannot be combined with api_key"],
      [`kind: bedrock, ${machine}, ${AWS}`, "role: cannot be combined with access_key_id"],
      [`kind: bedrock, ${machine}, session_token: t`, "session_token: has no effect without access_key_id"],
      [
        `kind: bedrock, ${here} { from: metadata }`,
        "role.from: must be one of container, web_identity, instance",
      ],
      [
        `kind: bedrock, ${here} { from: instance, url: "http://10.0.0.1" }`,
        "role.url: must be an https:// address",
      ],
      [container('uri: "http://10.0.0.1/x"'), "role.uri: must be an https:// address"],
      [container('uri: "https://u:p@h/x"'), "role.uri: must be an https:// address"],
      [
        container('uri: "https://h/x", token: a, token_file: /t'),
        "role.token: cannot be combined with token_file",
      ],
      [container('uri: "https://h/x", token_file: t'), "role.token_file: must be the absolute path"],
      [identity(`role_arn: me, token_file: /t`), "role.role_arn: must be a role's ARN"],
      [identity(`role_arn: ${role_arn}`), "role.token_file: "],
      [identity(`role_arn: ${role_arn}, token_file: /t, session_name: "a b"`), "role.session_name: must be"],
      ["kind: anthropic, role: { from: instance }", "role: does not apply to envelope: direct"],
    ] as const)
      expect(complaint(settings)).toStartWith(said);
  });

  test("Converse: the same credentials; a family and a guardrail if given", () => {
    const here = "kind: bedrock, region: us-west-2, api_key: k";
    expect(load(here)).toMatchObject({
      baseUrl: "https://bedrock-runtime.us-west-2.amazonaws.com",
      health: { probe: null },
    });
    const provider = load(`${here}, family: nova, guardrail: { id: gr-1, version: DRAFT }`);
    expect(provider.own).toMatchObject({ family: "nova", guardrail: { id: "gr-1", version: "DRAFT" } });
    expect(provider.kind.shown(provider.own)).toEqual({
      region: "us-west-2",
      family: "nova",
      guardrail: "gr-1",
    });
    expect(complaint(`${here}, family: gpt`)).toStartWith("family: must be one of claude, nova");
    expect(complaint(`${here}, guardrail: { id: gr-1 }`)).toStartWith("guardrail.version: ");
    expect(complaint("kind: bedrock, region: us-west-2")).toStartWith(
      "api_key: is required, or access_key_id",
    );
  });

  test("single settings of the vendor's dialect can be changed, its name cannot", () => {
    expect(load("kind: groq, api_key: k, dialect: { output_maximum: max_tokens }").own).toMatchObject({
      dialect: { ...DIALECTS.groq, outputMaximum: "max_tokens" },
    });
    expect(complaint("kind: groq, api_key: k, dialect: { preset: mistral }")).toBe(
      "dialect.preset: there is no such setting",
    );
  });
});

describe("a key that cannot work", () => {
  const openai = 'kind: openai, base_url: "https://api.openai.com/v1"';
  test.each([
    [`${openai}, api_key: sk-ant-api03-x`, "looks like a key of Anthropic, which OpenAI does not accept"],
    ["kind: groq, api_key: xai-1", "looks like a key of xAI, which Groq does not accept"],
    ["kind: gemini-openai, api_key: sk-proj-1", "looks like a key of OpenAI"],
    ["kind: mistral, api_key: gw_sk_1", "looks like a key of Tollgate itself"],
    [openai, "is required: an API key of your account at OpenAI"],
    ['kind: groq, api_key: "gsk_1\\n"', "contains a line break"],
    ['kind: groq, api_key: "gsk_1…"', "a character that a header cannot carry"],
  ])("%s", (settings, said) => {
    const words = complaint(settings);
    expect(words).toStartWith("api_key: ");
    expect(words).toContain(said);
    expect(words).not.toMatch(/api03|gw_sk_1|sk-proj-1/);
  });

  test("a proxy's keys and unknown forms of keys are not checked", () => {
    expect(load('kind: openai, base_url: "http://proxy/v1", api_key: sk-ant-1').baseUrl).toBe(
      "http://proxy/v1",
    );
    expect(load('kind: groq, base_url: "http://proxy/v1", api_key: sk-ant-1').baseUrl).toBe(
      "http://proxy/v1",
    );
    for (const key of ["sk-123", "gsk_123", "whatever"])
      expect(load(`kind: groq, api_key: ${key}`).own).toMatchObject({ api_key: key });
  });
});

import { expect, test } from "bun:test";
import { CAPABILITIES, NO_CAPABILITIES } from "../domain/capabilities.ts";
import { nanoUsd } from "../domain/money.ts";
import { freezeRelease } from "../domain/freeze-release.ts";
import { parseManifest, parseManifestYaml } from "./manifest.ts";
import { ReleaseError } from "./release-error.ts";

const YAML = `
model: base-preview-v1
provider: acme
upstream_model: acme-base-1
region: us-east
version: 3
tier: standard
requires_paid: true
context_window: 131072
max_output_tokens: 8192
default_output_tokens: 1024
pricing: { currency: USD, input_per_million: "0.50", cached_input_per_million: "0.05", output_per_million: "1.50", request_minimum: "0.0001" }
reasoning: { modes: [none, low, medium, high], default: medium }
tokenizer: o200k_base
capabilities: { tools: true, images: false, json_schema: true, logprobs: false, max_n: 1 }
defaults: { temperature: 1 }
priority: 1
weight: 100
`;
const SIGNED = { digest: "d", issuedAtMs: 1, expiresAtMs: 2, signedBy: "k" };
const LEAST = {
  model: "m",
  provider: "p",
  upstream_model: "u",
  region: "r",
  version: 1,
  tier: "standard",
  context_window: 1000,
  max_output_tokens: 100,
  default_output_tokens: 10,
  pricing: { currency: "USD", input_per_million: "1", output_per_million: "2", request_minimum: "0" },
};

function refusalOf(act: () => unknown): { path: string | null; message: string } {
  try {
    act();
  } catch (error) {
    if (error instanceof ReleaseError) return { path: error.path, message: error.message };
    throw error;
  }
  return { path: "accepted", message: "" };
}
const pathOf = (value: unknown): string | null => refusalOf(() => parseManifest(value)).path;

test("the manifest of the interfaces document becomes an exact release", () => {
  const release = freezeRelease(parseManifestYaml(YAML), SIGNED);
  expect(release).toMatchObject({
    ...SIGNED,
    route: "base-preview-v1@acme/us-east",
    version: 3,
    upstreamModel: "acme-base-1",
    requiresPaid: true,
    contextWindow: 131072,
    reasoning: { modes: ["none", "low", "medium", "high"], default: "medium" },
    tokenizer: "o200k_base",
    capabilities: { ...NO_CAPABILITIES, tools: true, json_schema: true },
    imageTokensMax: null,
    fileTokensMax: null,
    filePagesMax: null,
    remoteImages: false,
    defaults: { temperature: 1 },
  });
  expect(release.price).toEqual({
    input: nanoUsd(500_000_000n),
    cachedInput: nanoUsd(50_000_000n),
    output: nanoUsd(1_500_000_000n),
    requestMinimum: nanoUsd(100_000n),
  });
  expect(release.publishedPrice.input_per_million).toBe("0.50");
});

test("omitted fields get the safe default: no capabilities, bytes counted, cached tokens at the input rate", () => {
  const release = freezeRelease(parseManifest(LEAST), SIGNED);
  expect(release.capabilities).toEqual(NO_CAPABILITIES);
  expect(release.capabilities).toMatchObject({
    tools: false,
    images: false,
    json_schema: false,
    logprobs: false,
    logit_bias: false,
    files: false,
    max_n: 1,
  });
  expect(release).toMatchObject({
    tokenizer: "bytes",
    reasoning: null,
    priority: 1,
    weight: 100,
    requiresPaid: false,
  });
  expect(release.price.cachedInput).toBe(release.price.input);
  expect(release.publishedPrice).not.toHaveProperty("cached_input_per_million");
  expect(parseManifest({ ...LEAST, route: "mine" }).route).toBe("mine");
});

const NO_OUTPUT = {
  max_output_tokens: undefined,
  default_output_tokens: 0,
  pricing: { ...LEAST.pricing, output_per_million: "0" },
};
const FLAT = { image_tokens_max: 1, file_tokens_max: 1, file_pages_max: 1 };

test("each capability is checked: a boolean, or a number up to its maximum", () => {
  for (const [name, { max }] of CAPABILITIES) {
    const path = `capabilities.${name}`;
    for (const wrong of max === null ? [1, "yes", null] : [0, max + 1, 1.5, true])
      expect([wrong, pathOf({ ...LEAST, capabilities: { [name]: wrong } })]).toEqual([wrong, path]);
    const offered = { [name]: max ?? true };
    const also = name === "embeddings" ? NO_OUTPUT : FLAT;
    const release = freezeRelease(parseManifest({ ...LEAST, capabilities: offered, ...also }), SIGNED);
    expect(release.capabilities).toEqual({ ...NO_CAPABILITIES, ...offered });
  }
});

test("a release of vectors returns nothing else, and one of texts states its maximum tokens", () => {
  const vectors = { ...LEAST, ...NO_OUTPUT, capabilities: { embeddings: true } };
  expect(freezeRelease(parseManifest(vectors), SIGNED)).toMatchObject({
    maxOutputTokens: 0,
    defaultOutputTokens: 0,
  });
  for (const [change, path] of [
    [{ max_output_tokens: 10 }, "max_output_tokens"],
    [{ pricing: LEAST.pricing }, "pricing.output_per_million"],
    [{ capabilities: { embeddings: true, tools: true } }, "capabilities.embeddings"],
    [{ capabilities: { embeddings: true, max_n: 2 } }, "capabilities.embeddings"],
    [{ reasoning: { modes: ["low"], default: "low" } }, "capabilities.embeddings"],
  ] as const)
    expect([change, pathOf({ ...vectors, ...change })]).toEqual([change, path]);
  for (const name of ["max_output_tokens", "default_output_tokens"])
    for (const least of [0, undefined]) expect(pathOf({ ...LEAST, [name]: least })).toBe(name);
});

test("a price that YAML reads as a float is refused, and the message says what to write", () => {
  const { path, message } = refusalOf(() => parseManifestYaml(YAML.replace('"0.50"', "0.50")));
  expect(path).toBe("pricing.input_per_million");
  expect(message).toContain("quoted decimal string");
  expect(message).toContain('"0.5"');
});

const CLASSED = {
  ...LEAST.pricing,
  cached_input_per_million: "0.05",
  cache_write_per_million: "0.625",
  cache_write_1h_per_million: "1",
  audio_input_per_million: "2",
  image_input_per_million: "0.7",
  audio_output_per_million: "4",
  per_call: "10",
  calls_max: 5,
  service_tiers: { flex: "0.5", priority: "2" },
};
const tier = (above_prompt_tokens: number) => ({
  above_prompt_tokens,
  input_per_million: "1",
  cached_input_per_million: "0.1",
  cache_write_per_million: "1.25",
  cache_write_1h_per_million: "2",
  audio_input_per_million: "4",
  image_input_per_million: "1.4",
  output_per_million: "3",
  audio_output_per_million: "8",
});

test("prices of classes are exact, and are published as they were written", () => {
  const pricing = { ...CLASSED, tiers: [tier(100), tier(200)] };
  const release = freezeRelease(parseManifest({ ...LEAST, pricing }), SIGNED);
  const { currency: _, ...published } = pricing;
  expect(release.publishedPrice).toEqual(published);
  expect(release.price).toMatchObject({
    cacheWrite: 625_000_000n,
    perThousandCalls: 10_000_000_000n,
    callsMax: 5,
    tiers: [{ abovePromptTokens: 100, cacheWrite1h: 2_000_000_000n }, { abovePromptTokens: 200 }],
    serviceTiers: { flex: 500_000_000n, priority: 2_000_000_000n },
  });
});

test("prices that contradict each other are refused at the field that has to change", () => {
  const { image_input_per_million: _, ...blind } = tier(200);
  const wrong: [object, string, string][] = [
    [{ calls_max: undefined }, "pricing.calls_max", "is required with per_call"],
    [{ per_call: undefined }, "pricing.calls_max", "has no effect without per_call"],
    [{ calls_max: 0 }, "pricing.calls_max", ""],
    [{ tiers: [] }, "pricing.tiers", ""],
    [{ tiers: [tier(0)] }, "pricing.tiers[0].above_prompt_tokens", ""],
    [
      { tiers: [tier(200), tier(200)] },
      "pricing.tiers[1].above_prompt_tokens",
      "must be above that of the tier before",
    ],
    [{ tiers: [tier(1000)] }, "pricing.tiers[0].above_prompt_tokens", "must be below context_window"],
    [
      { tiers: [tier(100), blind] },
      "pricing.tiers[1].image_input_per_million",
      "a tier prices the whole request",
    ],
    [{ tiers: [{ ...tier(100), more: "1" }] }, "pricing.tiers[0].more", "is not a field"],
    [{ service_tiers: {} }, "pricing.service_tiers", "must name at least one tier"],
    [{ service_tiers: { flex: "0" } }, "pricing.service_tiers.flex", "above 0 and at most 100"],
    [{ service_tiers: { flex: "100.1" } }, "pricing.service_tiers.flex", "above 0 and at most 100"],
    [{ service_tiers: { flex: 0.5 } }, "pricing.service_tiers.flex", "quoted decimal string"],
    [{ service_tiers: { Flex: "0.5" } }, "pricing.service_tiers.Flex", "lower-case word"],
    [
      { service_tiers: { dear: "2" }, audio_input_per_million: "600000" },
      "pricing.service_tiers.dear",
      "above 1000000",
    ],
  ];
  for (const [change, path, words] of wrong) {
    const refused = refusalOf(() => parseManifest({ ...LEAST, pricing: { ...CLASSED, ...change } }));
    expect([change, refused.path]).toEqual([change, path]);
    expect(refused.message).toContain(words);
  }
});

test("missing, negative, endless and absurd prices are refused with their path", () => {
  for (const wrong of [undefined, "", "-1", "1e3", "0.0000000001", "abc", "1000001", null, 1]) {
    const pricing = { ...LEAST.pricing, output_per_million: wrong };
    expect(pathOf({ ...LEAST, pricing })).toBe("pricing.output_per_million");
  }
  expect(pathOf({ ...LEAST, pricing: { ...LEAST.pricing, currency: "EUR" } })).toBe("pricing.currency");
  expect(pathOf({ ...LEAST, pricing: undefined })).toBe("pricing");
  expect(refusalOf(() => parseManifest({ ...LEAST, pricing: undefined })).message).toBe(
    "pricing: is required",
  );
});

test("every field is checked, and the first faulty one is named", () => {
  const wrong: [object, string][] = [
    [{ context_window: 0 }, "context_window"],
    [{ context_window: 1e9 }, "context_window"],
    [{ max_output_tokens: 1.5 }, "max_output_tokens"],
    [{ max_output_tokens: 1001 }, "max_output_tokens"],
    [{ default_output_tokens: 101 }, "default_output_tokens"],
    [{ default_output_tokens: 0 }, "default_output_tokens"],
    [{ version: 0 }, "version"],
    [{ version: 2 ** 60 }, "version"],
    [{ version: "3" }, "version"],
    [{ tier: "gold" }, "tier"],
    [{ model: "../x" }, "model"],
    [{ model: "a b" }, "model"],
    [{ provider: "" }, "provider"],
    [{ route: "a b" }, "route"],
    [{ tokenizer: "p50k_base" }, "tokenizer"],
    [{ reasoning: { modes: ["low"], default: "high" } }, "reasoning.default"],
    [{ reasoning: { modes: ["low", "low"], default: "low" } }, "reasoning.modes"],
    [{ reasoning: { modes: [], default: "low" } }, "reasoning.modes"],
    [{ capabilities: { images: true } }, "image_tokens_max"],
    [{ capabilities: { files: true }, file_pages_max: 1 }, "file_tokens_max"],
    [{ capabilities: { files: true }, file_tokens_max: 1 }, "file_pages_max"],
    [{ file_tokens_max: LEAST.context_window }, "file_tokens_max"],
    [{ file_tokens_max: 0 }, "file_tokens_max"],
    [{ file_pages_max: 0 }, "file_pages_max"],
    [{ capabilities: { max_n: 0 } }, "capabilities.max_n"],
    [{ capabilities: { max_n: 129 } }, "capabilities.max_n"],
    [{ capabilities: { audio: true } }, "capabilities.audio"],
    [{ remote_images: true }, "remote_images"],
    [{ defaults: { temperature: 3 } }, "defaults.temperature"],
    [{ weight: 0 }, "weight"],
    [{ price: "1" }, "price"],
  ];
  for (const [change, path] of wrong)
    expect([change, pathOf({ ...LEAST, ...change })]).toEqual([change, path]);
  const images = { capabilities: { images: true }, image_tokens_max: 1500, remote_images: true };
  expect(pathOf({ ...LEAST, ...images })).toBe("accepted");
  const files = {
    capabilities: { files: true },
    file_tokens_max: LEAST.context_window - 1,
    file_pages_max: 9,
  };
  expect(pathOf({ ...LEAST, ...files })).toBe("accepted");
  expect(pathOf({ ...LEAST, capabilities: { max_n: 128 } })).toBe("accepted");
});

test("anything but a manifest is refused: scalars, lists, broken or doubled YAML, aliases, prototypes", () => {
  for (const value of [null, 1, "x", [], undefined]) expect(pathOf(value)).toBeNull();
  expect(refusalOf(() => parseManifestYaml("a: [")).message).toContain("not valid YAML");
  expect(refusalOf(() => parseManifestYaml(`${YAML}version: 4\n`)).message).toContain("not valid YAML");
  expect(refusalOf(() => parseManifestYaml("a: &a [1]\nb: *a\n")).message).toContain("not valid YAML");
  expect(refusalOf(() => parseManifestYaml("")).path).toBeNull();
  expect(pathOf(JSON.parse(JSON.stringify(LEAST).replace("{", '{"constructor":{"prototype":{}},')))).toBe(
    "constructor",
  );
  const polluted = JSON.parse(JSON.stringify(LEAST).replace("{", '{"__proto__":{"tier":"research"},'));
  expect(pathOf(polluted)).not.toBe("accepted");
});

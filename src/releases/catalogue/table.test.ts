// Reads price tables of three formats: their prices by the classes of a release, and what is skipped by name.
import { expect, test } from "bun:test";
import { parseManifestYaml } from "../manifest.ts";
import { printDecimal, readDecimal } from "./decimal.ts";
import type { TableEntry } from "./entry.ts";
import { findEntries } from "./find.ts";
import { fileNameOf, propose } from "./proposal.ts";
import { snapshotRow } from "./snapshot.ts";
import { openTable, type PriceTable, readTable } from "./table.ts";

const NAMED = { name: "table.json", atMs: Date.UTC(2026, 10, 23) };
const tableOf = (content: unknown): PriceTable => readTable(JSON.stringify(content), NAMED);
const terms = (markup = "1") => ({
  markup: readDecimal(markup) ?? { digits: 1n, scale: 0 },
  version: 1,
  region: "global",
  imageTokensMax: null,
  files: null,
  source: "a test",
});
const amounts = (entry: TableEntry | undefined): Record<string, unknown> => (entry ? snapshotRow(entry) : {});

const GPT = {
  litellm_provider: "openai",
  mode: "chat",
  max_input_tokens: 400_000,
  max_output_tokens: 128_000,
  input_cost_per_token: 2.5e-6,
  cache_read_input_token_cost: 2.5e-7,
  output_cost_per_token: 1.5e-5,
};
const withGpt = (changed: object): PriceTable => tableOf({ gpt: { ...GPT, ...changed }, well: GPT });

test("LiteLLM: prices by class, tiers, tiers of service and calls", () => {
  const [entry] = withGpt({
    cache_creation_input_token_cost: 3.125e-6,
    cache_creation_input_token_cost_above_1hr: 5e-6,
    input_cost_per_audio_token: 4e-5,
    output_cost_per_audio_token: 8e-5,
    input_cost_per_token_above_272k_tokens: 5e-6,
    output_cost_per_token_above_272k_tokens: 2.25e-5,
    input_cost_per_token_flex: 1.25e-6,
    output_cost_per_token_flex: 7.5e-6,
    input_cost_per_token_priority: 5e-6,
    output_cost_per_token_priority: 3.2e-5,
    search_context_cost_per_query: { search_context_size_low: 0.01, search_context_size_high: 0.03 },
    supports_function_calling: true,
    supports_reasoning: true,
    supports_minimal_reasoning_effort: false,
    supports_xhigh_reasoning_effort: true,
  }).entries;
  expect(amounts(entry)).toMatchObject({
    provider: "openai",
    context_window: 400_000,
    input_per_million: "2.5",
    cached_input_per_million: "0.25",
    cache_write_per_million: "3.125",
    cache_write_1h_per_million: "5",
    audio_input_per_million: "40",
    output_per_million: "15",
    audio_output_per_million: "80",
    tiers: [{ above_prompt_tokens: 272_000, input_per_million: "5", output_per_million: "22.5" }],
    // The largest of its classes, rounded up: 32 / 15.
    service_tiers: { flex: "0.5", priority: "2.133333334" },
    per_call: "30",
    tools: true,
    json_schema: false,
    reasoning: { modes: ["low", "medium", "high", "xhigh"], default: "medium" },
  });
});

test("LiteLLM: ranges are tiers, dearer reasoning prices all output, prefixes are not part of a name", () => {
  const table = tableOf({
    sample_spec: { mode: "chat", litellm_provider: "one of many" },
    "together_ai/some/model": {
      ...GPT,
      litellm_provider: "together_ai",
      input_cost_per_token: undefined,
      output_cost_per_token: undefined,
      tiered_pricing: [{ range: [0, 128_000] }],
    },
    "gemini/gemini-x": { ...GPT, litellm_provider: "gemini", output_cost_per_reasoning_token: 3e-5 },
    embed: { ...GPT, mode: "embedding" },
    "dashscope/qwen": {
      ...GPT,
      litellm_provider: "dashscope",
      tiered_pricing: [
        { range: [0, 128_000.0], input_cost_per_token: 1e-7, output_cost_per_token: 4e-7 },
        { range: [128_000.0, 400_000.0], input_cost_per_token: 2.5e-7, output_cost_per_token: 2e-6 },
      ],
    },
  });
  expect(table.entries.map(({ provider, model }) => `${provider} ${model}`)).toEqual([
    "google gemini-x",
    "dashscope qwen",
  ]);
  expect(amounts(table.entries[0])["output_per_million"]).toBe("30");
  expect(table.entries[1]?.tiers.map(({ above }) => above)).toEqual([128_000]);
  expect(table.skipped).toEqual([
    { provider: "together", name: "together_ai/some/model", reason: "input_per_million is missing" },
  ]);
});

test("models.dev: prices by class, its tiers, and the older tier where it has no others", () => {
  const model = {
    modalities: { input: ["text", "image", "pdf"], output: ["text"] },
    limit: { context: 1_050_000, input: 922_000, output: 128_000 },
    cost: { input: 5, output: 30, cache_read: 0.5, cache_write: 6.25, input_audio: 32, reasoning: 30 },
    tool_call: true,
    structured_output: true,
    reasoning: true,
    reasoning_options: [{ type: "toggle" }, { type: "effort", values: ["low", "high"], default: "high" }],
  };
  const tier = { input: 10, output: 45, cache_read: 1, tier: { type: "context", size: 272_000 } };
  const older = { ...model, cost: { ...model.cost, context_over_200k: { input: 7, output: 40 } } };
  const table = tableOf({
    openai: {
      models: {
        "gpt-x": {
          ...model,
          cost: { ...model.cost, tiers: [tier], context_over_200k: { input: 1, output: 1 } },
        },
      },
    },
    moonshotai: {
      models: { older, sings: { ...model, modalities: { input: ["text"], output: ["audio"] } } },
    },
  });
  expect(table.entries.map(({ provider, model: name }) => `${provider} ${name}`)).toEqual([
    "openai gpt-x",
    "moonshot older",
  ]);
  expect(amounts(table.entries[0])).toMatchObject({
    context_window: 1_050_000,
    input_per_million: "5",
    cached_input_per_million: "0.5",
    cache_write_per_million: "6.25",
    audio_input_per_million: "32",
    tiers: [
      {
        above_prompt_tokens: 272_000,
        input_per_million: "10",
        cached_input_per_million: "1",
        output_per_million: "45",
      },
    ],
    json_schema: true,
    images: true,
    files: true,
    reasoning: { modes: ["low", "high"], default: "high" },
  });
  expect(table.entries[1]?.tiers.map(({ above }) => above)).toEqual([200_000]);
});

const HOSTILE: [string, object, RegExp][] = [
  [
    "a negative price",
    { input_cost_per_token: -1e-6 },
    /input_cost_per_token is -0.000001, which is not a price/,
  ],
  ["a price in words", { output_cost_per_token: "free" }, /which is not a price/],
  ["a price that is an object", { cache_read_input_token_cost: {} }, /which is not a price/],
  ["no price", { input_cost_per_token: undefined }, /input_per_million is missing/],
  ["a price of nothing", { output_cost_per_token: 0 }, /output_per_million is 0/],
  ["no window", { max_input_tokens: undefined }, /max_input_tokens is missing/],
  ["a window in words", { max_input_tokens: "max input tokens" }, /must be a number from 1/],
  ["half a token", { max_output_tokens: 0.5 }, /must be a number from 1/],
  ["a window without end", { max_input_tokens: 1e18 }, /must be a number from 1/],
  [
    "a tier without an output",
    { input_cost_per_token_above_128k_tokens: 1e-6 },
    /above 128k: output_per_million is missing/,
  ],
];
test.each(HOSTILE)("%s leaves out only that model, by name", (_, changed, reason) => {
  const { entries, skipped } = withGpt(changed);
  expect(entries.map(({ model }) => model)).toEqual(["well"]);
  expect(skipped.map(({ name }) => name)).toEqual(["gpt"]);
  expect(skipped[0]?.reason).toMatch(reason);
});

test("a price of 1e400, beyond a float, leaves out its model", () => {
  const text = JSON.stringify({ gpt: GPT, well: GPT }).replace("0.0000025", "1e400");
  const { entries, skipped } = readTable(text, NAMED);
  expect(entries.map(({ model }) => model)).toEqual(["well"]);
  expect(skipped[0]?.reason).toBe("input_cost_per_token is 1e400, which is not a price");
});

test.each([
  "../../etc/passwd",
  "a/../b",
  "a//b",
  "/root",
  "..",
  "a\u0000b",
  "a\nb: c",
  "a\u001b[2J",
  "a\\b",
  "a b",
  "ä",
])("a model called %p is left out, and its name is printed inert", (name) => {
  const { entries, skipped } = tableOf({ [name]: GPT, well: GPT });
  expect(entries.map(({ model }) => model)).toEqual(["well"]);
  expect(skipped).toHaveLength(1);
  expect(skipped[0]?.name).not.toMatch(/\p{C}/u);
});

test("JavaScript's own property names are ordinary names", () => {
  const text = JSON.stringify({ well: GPT }).replace('"well"', '"__proto__"');
  expect(readTable(text, NAMED).skipped[0]?.reason).toMatch(/characters/);
  const { entries } = tableOf({ constructor: { ...GPT, litellm_provider: "constructor" } });
  expect(entries.map(({ provider, model }) => [provider, model])).toEqual([["constructor", "constructor"]]);
});

test.each([
  ["text that is no JSON", "{", /is not JSON/],
  ["NaN", '{"gpt": {"input_cost_per_token": NaN}}', /is not JSON/],
  ["nesting without end", `${"[".repeat(200_000)}`, /nested too deeply/],
  ["another document", '{"hello": "world"}', /not a price table/],
  ["a list", "[1, 2]", /not a price table/],
])("%s is refused as a whole", (_, text, reason) => {
  expect(() => readTable(text, NAMED)).toThrow(reason);
});

test("two conflicting entries of one model: the first stays, the other is reported", () => {
  const { entries, skipped } = tableOf({
    "deepseek/chat": { ...GPT, litellm_provider: "deepseek" },
    chat: { ...GPT, litellm_provider: "deepseek", input_cost_per_token: 1e-6 },
  });
  expect(entries.map(({ listedAs }) => listedAs)).toEqual(["deepseek/chat"]);
  expect(skipped[0]?.reason).toBe("its terms for deepseek chat differ from those of deepseek/chat");
});

test("an unknown model suggests near names, an unknown provider lists the known ones", () => {
  const table = tableOf({ "gpt-5-mini": GPT, "gpt-5-nano": GPT, other: GPT });
  const next = (wanted: object): string => {
    try {
      findEntries(table, wanted);
    } catch (error) {
      return String((error as { next?: string }).next);
    }
    return "found";
  };
  expect(next({ model: "gpt5-mini" })).toStartWith("Similar names: gpt-5-mini, gpt-5-nano");
  expect(next({ provider: "opnai" })).toBe("It has: openai.");
  expect(next({ model: "gpt-5-mini" })).toBe("found");
});

test("a tier has every class of the base prices, never below the price that would apply instead", () => {
  const [entry] = withGpt({
    max_input_tokens: 300_000,
    cache_creation_input_token_cost: 3e-6,
    input_cost_per_token_above_200k_tokens: 5e-6,
    output_cost_per_token_above_200k_tokens: 2e-5,
    input_cost_per_token_above_400k_tokens: 6e-6,
    output_cost_per_token_above_400k_tokens: 3e-5,
  }).entries;
  if (entry === undefined) throw new Error("left out");
  const { yaml, manifest } = propose(entry, terms("2"));
  expect(manifest.pricing.tiers).toEqual([
    {
      above_prompt_tokens: 200_000,
      input_per_million: "10",
      cached_input_per_million: "10",
      cache_write_per_million: "10",
      output_per_million: "40",
    },
  ]);
  expect(parseManifestYaml(yaml).pricing.tiers).toEqual(manifest.pricing.tiers);
  expect(yaml).toContain("the tier above 400000 tokens is left out");
  expect(entry.tiers.map(({ above }) => above)).toEqual([200_000, 400_000]);
});

test("every model of the snapshot makes a manifest that can be signed, with a markup of its own", async () => {
  const table = await openTable(undefined, 0);
  expect(table.skipped).toEqual([]);
  expect(table.entries.length).toBeGreaterThan(60);
  expect([table.source, table.date]).toEqual([
    expect.stringContaining("MIT"),
    expect.stringMatching(/^2026-/),
  ]);
  for (const entry of table.entries) {
    const { yaml, manifest } = propose(entry, terms("1.15"));
    const read = parseManifestYaml(yaml);
    expect(read.pricing).toEqual(manifest.pricing as typeof read.pricing);
    const paid = readDecimal(read.pricing.input_per_million);
    const price = entry.rates.input_per_million;
    if (paid === null || price === undefined) throw new Error(`${entry.listedAs} has no price`);
    expect(printDecimal({ digits: price.digits * 115n, scale: price.scale + 2 })).toBe(printDecimal(paid));
    expect(fileNameOf(manifest)).toMatch(/^[a-z]+__[\w.-]+\.yaml$/);
  }
});

test("a model that reads PDFs is reported with what its release needs; a table without the fact reports nothing", () => {
  const [told, untold] = withGpt({ supports_pdf_input: true }).entries;
  expect([told?.files, untold?.files]).toEqual([true, null]);
  expect(amounts(untold)).not.toHaveProperty("files");
  expect(told && propose(told, terms()).yaml).toContain(
    "# - it reads PDFs: capabilities { files: true } needs file_tokens_max and file_pages_max",
  );
  expect(untold && propose(untold, terms()).yaml).not.toContain("PDF");
  const files = { tokens: 9000, pages: 30 };
  const offered = told && parseManifestYaml(propose(told, { ...terms(), files }).yaml);
  expect(offered).toMatchObject({
    capabilities: { files: true },
    file_tokens_max: 9000,
    file_pages_max: 30,
  });
  const nothing = untold && propose(untold, { ...terms(), files }).manifest;
  expect(nothing).not.toHaveProperty("file_tokens_max");
  expect(nothing?.capabilities).not.toHaveProperty("files");
  const again = tableOf({ source: "s", date: "2026-11-23", models: [told, untold].map(amounts) });
  expect(again.entries.map(({ files }) => files)).toEqual([true, null]);
});

test("the cost of a search is reported with the markup", () => {
  const [entry] = withGpt({ search_context_cost_per_query: { search_context_size_low: 0.01 } }).entries;
  expect(entry && propose(entry, terms("1.15")).yaml).toContain(
    '1,000 searches cost 10: to offer them, set per_call: "11.5" and calls_max',
  );
});

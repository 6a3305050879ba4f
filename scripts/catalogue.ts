// Writes src/releases/catalogue/snapshot.json, the prices that ship with this program, from a LiteLLM table:
// ./tollgate-bun scripts/catalogue.ts FILE "LiteLLM 1.109.1" 2026-11-23
// It takes facts only: names, prices, windows and capabilities of the models below.
import { join } from "node:path";
import { readTable } from "../src/releases/catalogue/table.ts";
import { snapshotRow } from "../src/releases/catalogue/snapshot.ts";

/** Model names, separated by blanks. */
const MODELS = {
  openai: `
    gpt-6.1-sol gpt-6.1-terra gpt-6-astra gpt-6-sol gpt-6-luna gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna
    gpt-5.5 gpt-5.4 gpt-5.4-mini gpt-5.4-nano gpt-5.2 gpt-5.1 gpt-5 gpt-5-mini gpt-5-nano gpt-4.1
    gpt-4.1-mini gpt-4.1-nano gpt-4o gpt-4o-mini o3 o4-mini gpt-audio-1.5
  `,
  anthropic: `
    claude-opus-5-5 claude-opus-5 claude-opus-4-8 claude-opus-4-7 claude-sonnet-5-5 claude-sonnet-5
    claude-sonnet-4-6 claude-sonnet-4-5 claude-haiku-5-5 claude-haiku-4-5 claude-fable-5-1 claude-fable-5
  `,
  google: `
    gemini-4-argon gemini-3.8-flash gemini-3.7-flash gemini-3.6-flash gemini-3.5-flash
    gemini-3.5-flash-lite gemini-3.1-pro-preview gemini-3.1-flash-lite gemini-2.5-pro gemini-2.5-flash
    gemini-2.5-flash-lite
  `,
  mistral: `
    mistral-large-4-0 mistral-large-2512 mistral-medium-3-5 mistral-small-2603 codestral-2508
    ministral-3-3b-2512 ministral-3-8b-2512 ministral-3-14b-2512 magistral-medium-latest
    devstral-medium-latest
  `,
  deepseek: "deepseek-flash deepseek-v4-flash deepseek-v4-pro",
  xai: `
    grok-4.7 grok-4.6 grok-4.5 grok-4.3 grok-4.20-0309-reasoning grok-4.20-0309-non-reasoning
    grok-code-fast-1
  `,
  groq: "openai/gpt-oss-120b openai/gpt-oss-20b qwen/qwen3.8-27b",
  moonshot: "kimi-k3.1-pro kimi-k3 kimi-k2.7-code kimi-k2.6 kimi-k2.5",
  bedrock: `
    amazon.nova-2-lite-v1:0 amazon.nova-premier-v1:0 amazon.nova-pro-v1:0 amazon.nova-lite-v1:0
    amazon.nova-micro-v1:0 meta.llama3-3-70b-instruct-v1:0 meta.llama4-maverick-17b-instruct-v1:0
    meta.llama4-scout-17b-instruct-v1:0
  `,
  meta: "muse-spark-1.3 muse-spark-1.2",
  together: `
    meta-llama/Llama-3.3-70B-Instruct-Turbo meta-llama/Llama-4-Scout-17B-16E-Instruct
    meta-models/Muse-Spark-Open-816B-A42B moonshotai/Kimi-K3 deepseek-ai/DeepSeek-V4.1-Flash
  `,
  fireworks: "deepseek-v4-pro-0813 kimi-k2p7-code gpt-oss-120b",
  cerebras: "gpt-oss-120b qwen-3.8-27b",
};

const [file, source, date] = process.argv.slice(2);
if (file === undefined || source === undefined || date === undefined)
  throw new Error("give the table, its name and its day");
const table = readTable(await Bun.file(file).text(), { name: file, atMs: Date.parse(date) });
const found = Object.entries(MODELS).flatMap(([provider, models]) =>
  models
    .trim()
    .split(/\s+/)
    .map((model) => {
      const entry = table.entries.find((one) => one.provider === provider && one.model === model);
      if (entry !== undefined) return entry;
      const skipped = table.skipped.filter(({ name }) => name.endsWith(model));
      throw new Error(
        `${provider} ${model}: ${skipped.map(({ name, reason }) => `${name}: ${reason}`).join(", ")}`,
      );
    }),
);
// Models that were retired by that day are left out.
const rows = found.filter(
  ({ notes }) => !notes.some((note) => (/ends on (\S+)/.exec(note)?.[1] ?? date) < date),
);
const about = {
  source: `${source} (model_prices_and_context_window.json, MIT licence)`,
  date,
  about:
    "Prices that providers publish, in US dollars per million tokens. They change: compare before you sign.",
};
const text = `${JSON.stringify({ ...about, models: rows.map(snapshotRow) }, null, 2)}\n`;
await Bun.write(join(import.meta.dir, "../src/releases/catalogue/snapshot.json"), text);
console.log(`${rows.length} models`);

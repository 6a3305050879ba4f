import { expect, test } from "bun:test";
import { geminiOutgoing } from "./google.fixtures.ts";
import { printedText } from "../printed-text.fixtures.ts";

const thinking = (model: string, reasoningEffort: string | null, ceiling = 32_768): unknown =>
  (
    JSON.parse(printedText(geminiOutgoing({}, { model, reasoningEffort }), ceiling)) as {
      generationConfig: { thinkingConfig?: unknown };
    }
  ).generationConfig.thinkingConfig;
const budget = (thinkingBudget: number, includeThoughts = true): object => ({
  includeThoughts,
  thinkingBudget,
});
const level = (thinkingLevel: string, includeThoughts = true): object => ({ includeThoughts, thinkingLevel });

test.each<[string, string | null, number, unknown]>([
  ["gemini-2.5-flash", null, 8192, undefined],
  ["gemini-2.5-flash", "none", 8192, budget(0, false)],
  ["gemini-2.5-flash", "low", 8192, budget(1024)],
  ["gemini-2.5-flash", "high", 8192, budget(6144)], // three quarters: the answer needs the rest
  ["gemini-2.5-flash", "high", 65_536, budget(24_576)],
  ["gemini-2.5-flash", "0", 8192, budget(0)],
  ["gemini-2.5-flash", "500", 8192, budget(500)],
  ["gemini-2.5-flash-lite", "100", 8192, budget(512)],
  ["gemini-2.5-flash-lite", "low", 300, budget(0)],
  ["gemini-2.5-pro", "none", 8192, budget(128, false)], // its thinking cannot be switched off
  ["gemini-2.5-pro", "max", 65_536, budget(32_768)],
  ["gemini-2.5-pro", "low", 64, budget(-1)],
  ["gemini-3-flash-preview", "none", 8192, level("MINIMAL", false)],
  ["gemini-3-pro-preview", "none", 8192, level("LOW", false)],
  ["gemini-3-pro-preview", "medium", 8192, level("HIGH")],
  ["gemini-3.1-pro-preview", "medium", 8192, level("MEDIUM")],
  ["models-of-our-own", "xhigh", 8192, level("HIGH")],
])("%s thinks %s under %d tokens", (model, mode, ceiling, expected) => {
  expect(thinking(model, mode, ceiling)).toEqual(expected as object);
});

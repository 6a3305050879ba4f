import fc from "fast-check";
import { isPricedAsSent } from "../priced-body.fixtures.ts";
import { geminiOutgoing } from "./google.fixtures.ts";

interface Config {
  maxOutputTokens: number;
  stopSequences?: string[];
  responseJsonSchema?: unknown;
}

isPricedAsSent({
  extra: fc.constantFrom({}, { google: { thought_signature: "c2lnbmF0dXJl" } }),
  remoteImages: true,
  how: fc.record({
    model: fc.constantFrom("gemini-2.5-pro", "gemini-2.5-flash", "gemini-3.8-flash"),
    reasoningEffort: fc.constantFrom(null, "none", "low", "high", "20000"),
  }),
  prepare: geminiOutgoing,
  weightless: "data",
  slack: 25,
  ceilingOf: ({ generationConfig }) => (generationConfig as Config).maxOutputTokens,
  read({ systemInstruction = { parts: [] }, contents, tools, generationConfig }) {
    const said = [systemInstruction, ...(contents as unknown[])] as { parts: unknown }[];
    const { stopSequences, responseJsonSchema } = generationConfig as Config;
    return [said.map(({ parts }) => parts), tools, stopSequences, responseJsonSchema];
  },
  frame: "text",
});

// The AI SDK with OpenAI's provider, whose default is the Responses API: a loop over tools, whole or streamed.
import { readFileSync, writeFileSync } from "node:fs";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";

const { MODEL, STREAMED, NOTES } = process.env;
const openai = createOpenAI(); // OPENAI_BASE_URL, OPENAI_API_KEY
const edit_file = tool({
  description: "Replaces a text in a file",
  inputSchema: jsonSchema({
    type: "object",
    properties: { from: { type: "string" }, to: { type: "string" } },
    required: ["from", "to"],
    additionalProperties: false,
  }),
  execute: ({ from, to }) => {
    writeFileSync(NOTES, readFileSync(NOTES, "utf8").replace(from, to));
    return "done";
  },
});
const options = {
  model: openai(MODEL),
  prompt: "Make the colour blue",
  tools: { edit_file },
  stopWhen: stepCountIs(4),
};
let deltas = "";
let result;
if (STREAMED === "1") {
  const errors = [];
  result = streamText({ ...options, onError: ({ error }) => errors.push(error) });
  for await (const delta of result.textStream) deltas += delta;
  if (errors.length > 0) throw errors[0];
} else result = await generateText(options);
const text = await result.text;
const steps = await result.steps;
const usages = steps.map(({ usage }) => ({
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
}));
console.log(JSON.stringify({ text, deltas: STREAMED === "1" ? deltas : text, usages }));

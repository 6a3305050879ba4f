// OpenAI's Agents SDK, which speaks the Responses API: an agent with one tool, whole or streamed.
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, run, setTracingDisabled, tool } from "@openai/agents";
import { z } from "zod";

const { MODEL, STREAMED, NOTES } = process.env;
setTracingDisabled(true); // traces would go to their vendor
const edit = tool({
  name: "edit_file",
  description: "Replaces a text in a file",
  parameters: z.object({ from: z.string(), to: z.string() }),
  execute: async ({ from, to }) => {
    writeFileSync(NOTES, readFileSync(NOTES, "utf8").replace(from, to));
    return "done";
  },
});
const agent = new Agent({ name: "Editor", instructions: "Edit the file.", model: MODEL, tools: [edit] });
let deltas = "";
let result;
if (STREAMED === "1") {
  result = await run(agent, "Make the colour blue", { stream: true });
  for await (const delta of result.toTextStream({ compatibleWithNodeStreams: false })) deltas += delta;
  await result.completed;
} else result = await run(agent, "Make the colour blue");
const text = result.finalOutput;
const usages = result.rawResponses.map(({ usage }) => ({
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
}));
console.log(JSON.stringify({ text, deltas: STREAMED === "1" ? deltas : text, usages }));

// Anthropic's SDK: its own loop over tools, or one that reads the stream's helpers; counting and the list of models beside it.
import { readFileSync, writeFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";

const { MODEL, STREAMED, NOTES } = process.env;
const client = new Anthropic(); // ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY
const tool = {
  name: "edit_file",
  description: "Replaces a text in a file",
  input_schema: {
    type: "object",
    properties: { from: { type: "string" }, to: { type: "string" } },
    required: ["from", "to"],
    additionalProperties: false,
  },
};
const edit = ({ from, to }) => {
  writeFileSync(NOTES, readFileSync(NOTES, "utf8").replace(from, to));
  return "done";
};
const messages = [{ role: "user", content: "Make the colour blue" }];
const said = { model: MODEL, max_tokens: 2000, messages };

const { input_tokens: counted } = await client.messages.countTokens({ model: MODEL, messages, tools: [tool] });
const listed = [];
for await (const { id } of client.models.list()) listed.push(id);

const usages = [];
let text = "";
let deltas = "";
if (STREAMED === "1") {
  for (let turn = 0; turn < 4 && text === ""; turn += 1) {
    const stream = client.messages.stream({ ...said, tools: [tool] }).on("text", (delta) => (deltas += delta));
    const message = await stream.finalMessage();
    usages.push(message.usage);
    messages.push({ role: "assistant", content: message.content });
    if (message.stop_reason === "tool_use") {
      const calls = message.content.filter(({ type }) => type === "tool_use");
      const content = calls.map(({ id, input }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: edit(input),
      }));
      messages.push({ role: "user", content });
    } else text = await stream.finalText();
  }
} else {
  const { name, description, input_schema: inputSchema } = tool;
  const runner = client.beta.messages.toolRunner({
    ...said,
    tools: [betaTool({ name, description, inputSchema, run: edit })],
  });
  for await (const { usage, content } of runner) {
    usages.push(usage);
    text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
  }
  deltas = text;
}
console.log(JSON.stringify({ text, deltas, usages, counted, listed }));

// What a coding agent sends in the middle of its work: its tools with each call, and a conversation of short steps.
import { SCRIPTS } from "./scripts.ts";
import type { ScriptName } from "./scripts.ts";

const TOOLS = 20;
const SENTENCE = "A gateway holds credits before the call and settles what was used after it. ";
const CODE = `export async function readLines(path: string): Promise<string[]> {
  const text = await Bun.file(path).text();
  return text.split("\\n").filter((line) => line !== "");
}
`;

const tool = (index: number): object => ({
  type: "function",
  function: {
    name: `tool_${index}`,
    description: SENTENCE.repeat(5),
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Absolute path of the file to work on" },
        offset: { type: "integer", description: "The line to start at" },
        limit: { type: "integer", description: "How many lines" },
        mode: { type: "string", enum: ["read", "write", "append"] },
      },
      required: ["path"],
      additionalProperties: false,
    },
  },
});

/** One call of a tool and its answer, with their names in the order of OpenAI's own examples. */
function step(index: number): object[] {
  const [id, name] = [`call_${index}`, `tool_${index % TOOLS}`];
  const call = {
    name,
    arguments: JSON.stringify({ path: `/src/file-${index}.ts`, offset: 0, limit: 200 }),
  };
  return [
    {
      role: "assistant",
      content: "I look at the file.",
      tool_calls: [{ id, type: "function", function: call }],
    },
    { role: "tool", tool_call_id: id, content: CODE.repeat(6) },
  ];
}

/** A chat completion after `steps` calls of tools: 18 KB, and some 1.4 KB for each. */
export function agentBody(model: ScriptName, steps: number): string {
  const streamed = SCRIPTS[model].kind !== "json";
  return JSON.stringify({
    model,
    messages: [
      { role: "system", content: SENTENCE.repeat(60) },
      { role: "user", content: SENTENCE },
      ...Array.from({ length: steps }, (_, index) => step(index)).flat(),
    ],
    tools: Array.from({ length: TOOLS }, (_, index) => tool(index)),
    temperature: 0.7,
    ...(streamed ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
}

// The tool calls that the simulator is ordered to make: one round for each round of results, and only of offered
// tools.
import { expect, test } from "bun:test";
import { answerTo } from "./answer.ts";
import type { Asked } from "./asked.ts";

const READ = { name: "read", arguments: { path: "notes.txt" } };
const EDIT = { name: "edit", arguments: { path: "notes.txt", to: "blue" } };
const TOOLS = [{ function: { name: "read" } }, { function: { name: "edit" } }];
const ASK = { role: "user", content: "Please edit" };
const CALL = { role: "assistant", content: "" };
const RESULT = { role: "tool", content: "red" };

/** Returns the calls that it makes, put together as a client does. */
async function calls(messages: Asked["messages"], terms: Partial<Asked> = {}): Promise<unknown[]> {
  const behaviour = { tool_rounds: [[READ, READ], [EDIT]] };
  const asked = { model: "sim-1", messages, tools: TOOLS, ...terms };
  const { choices } = await answerTo(asked, behaviour);
  const made: { name: string; arguments: string }[] = [];
  for (const { delta } of choices[0]?.fragments ?? [])
    for (const { index, function: part } of (delta["tool_calls"] ?? []) as {
      index: number;
      function: { name?: string; arguments: string };
    }[]) {
      if (part.name !== undefined) made[index] = { name: part.name, arguments: "" };
      (made[index] as { arguments: string }).arguments += part.arguments;
    }
  return made.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) as unknown }));
}

test("tool_rounds: the round that the conversation has come to, with exactly its arguments; afterwards words", async () => {
  expect(await calls([ASK])).toEqual([READ, READ]);
  const afterOne = [ASK, CALL, RESULT, RESULT];
  expect(await calls(afterOne)).toEqual([EDIT]);
  expect(await calls([...afterOne, ASK])).toEqual([EDIT]);
  expect(await calls([...afterOne, CALL, RESULT])).toEqual([]);
  expect(await calls([...afterOne, CALL, RESULT, ASK])).toEqual([]);
});

test("tool_rounds: where a tool of the round is not offered, it answers in words, whatever was said", async () => {
  expect(await calls([ASK], { tools: [{ function: { name: "edit" } }] })).toEqual([]);
  expect(await calls([ASK], { tools: [] })).toEqual([]);
});

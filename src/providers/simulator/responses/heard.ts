// Converts a Responses call to the form that the simulator's model reads.
import type { Asked } from "../asked.ts";
import { documentTokens } from "../documents.ts";
import type { ResponsesCall, ResponsesItem } from "./request.ts";

export function askedOfResponses(call: ResponsesCall): Asked {
  const { instructions, input, max_output_tokens: ceiling, reasoning, text, include = [] } = call;
  const said: Asked["messages"] =
    typeof input === "string" ? [{ role: "user", content: input }] : input.flatMap(messagesOf);
  const offered = offeredIn(call);
  return {
    model: call.model,
    messages: instructions === undefined ? said : [{ role: "system", content: instructions }, ...said],
    ...(ceiling !== undefined && { max_completion_tokens: ceiling }),
    documentTokens: documentTokens(documentsIn(input), call),
    stream: call.stream === true,
    ...(typeof reasoning?.effort === "string" && { reasoning_effort: reasoning.effort }),
    ...(offered.length > 0 && { tools: offered.flatMap(toolsOf) }),
    ...(call.tool_choice !== undefined && { tool_choice: choiceOf(call.tool_choice) }),
    ...(call.parallel_tool_calls !== undefined && { parallel_tool_calls: call.parallel_tool_calls }),
    ...(text?.format !== undefined && {
      response_format:
        text.format.type === "json_schema"
          ? { type: "json_schema", json_schema: { schema: text.format.schema } }
          : { type: text.format.type },
    }),
    ...(include.includes("message.output_text.logprobs") && {
      logprobs: true,
      top_logprobs: call.top_logprobs ?? 0,
    }),
  };
}

function messagesOf(item: ResponsesItem): Asked["messages"] {
  switch (item.type) {
    case "message": {
      const { role, content } = item;
      const parts =
        typeof content === "string"
          ? content
          : content.map((part) => ("text" in part ? { text: part.text } : { other: otherOf(part) }));
      return [{ role, content: parts }];
    }
    case "function_call":
    case "custom_tool_call":
      return [{ role: "assistant", content: null, tool_calls: [item] }];
    case "function_call_output":
    case "custom_tool_call_output":
      return [
        {
          role: "tool",
          content: typeof item.output === "string" ? item.output : item.output.map(otherOf).join(),
        },
      ];
    case "reasoning":
    case "additional_tools":
    case "tool_search_call":
    case "tool_search_output":
      return [];
  }
}

/** The tools of the call, and those that its conversation adds. */
export function offeredIn({ tools = [], input }: ResponsesCall): Tool[] {
  const items = typeof input === "string" ? [] : input;
  return [...tools, ...items.flatMap((item) => ("tools" in item ? item.tools : []))];
}

/** A document's data is not part of the prompt's text. */
const otherOf = (part: object): string =>
  JSON.stringify("file_data" in part ? { ...part, file_data: "" } : part);

/** Returns the documents that users and tools sent, in base64. */
function documentsIn(input: ResponsesCall["input"]): string[] {
  if (typeof input === "string") return [];
  const shown = input.flatMap((item): readonly object[] => {
    const parts = "content" in item ? item.content : "output" in item ? item.output : [];
    return typeof parts === "string" ? [] : (parts ?? []);
  });
  return shown.flatMap((part) =>
    "file_data" in part ? [String(part.file_data).slice("data:application/pdf;base64,".length)] : [],
  );
}

type Tool = NonNullable<ResponsesCall["tools"]>[number];
type AskedTool = NonNullable<Asked["tools"]>[number];

const TEXT = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };

function toolsOf(tool: Tool): AskedTool[] {
  if (tool.type === "namespace")
    return tool.tools.flatMap((one) =>
      toolsOf({ ...one, name: groupedName({ name: one.name, namespace: tool.name }) }),
    );
  if (tool.type === "tool_search") return [];
  const { name, description } = tool;
  const parameters = tool.type === "custom" ? TEXT : (tool.parameters ?? undefined);
  return [
    {
      function: {
        name,
        ...(typeof description === "string" && { description }),
        ...(parameters !== undefined && { parameters }),
      },
    },
  ];
}

/** Returns the model's name for a tool in a group. */
export const groupedName = ({ name, namespace }: { name: string; namespace?: string | undefined }): string =>
  namespace === undefined ? name : `${namespace}__${name}`;

function choiceOf(choice: NonNullable<ResponsesCall["tool_choice"]>): unknown {
  if (typeof choice === "string") return choice;
  return choice.type === "allowed_tools" ? choice.mode : { function: { name: groupedName(choice) } };
}

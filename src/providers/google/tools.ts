// Tools and the tool choice in Gemini's form. Schemas are sent as they came, in the field that accepts JSON Schema.
import type { ChatRequest, ToolChoice } from "../../domain/chat-request.ts";

export interface FunctionCallingConfig {
  mode: "AUTO" | "ANY" | "NONE" | "VALIDATED";
  allowedFunctionNames?: string[];
}

/** Returns the fields of a body with tools. */
export const toolFields = ({ tools, toolChoice }: ChatRequest): Record<string, unknown> => ({
  tools: [
    {
      functionDeclarations: tools.map(({ function: { name, description, parameters } }) => ({
        name,
        ...(description !== undefined && { description }),
        ...(parameters !== undefined && { parametersJsonSchema: parameters }),
      })),
    },
  ],
  ...(toolChoice !== null && { toolConfig: { functionCallingConfig: chosen(toolChoice) } }),
});

/** Names go with ANY, and with VALIDATED if the model may also answer in words; AUTO accepts none. */
function chosen(choice: ToolChoice): FunctionCallingConfig {
  switch (choice) {
    case "none":
      return { mode: "NONE" };
    case "auto":
      return { mode: "AUTO" };
    case "required":
      return { mode: "ANY" };
  }
  if (choice.type === "function") return { mode: "ANY", allowedFunctionNames: [choice.function.name] };
  const { mode, tools } = choice.allowed_tools;
  return {
    mode: mode === "required" ? "ANY" : "VALIDATED",
    allowedFunctionNames: tools.map(({ function: { name } }) => name),
  };
}

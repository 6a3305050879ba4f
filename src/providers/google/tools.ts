// Tools and the choice among them, as Gemini takes them. Schemas go as they came, under the name that takes JSON Schema.
import type { ChatRequest, ToolChoice } from "../../domain/chat-request.ts";

export interface FunctionCallingConfig {
  mode: "AUTO" | "ANY" | "NONE" | "VALIDATED";
  allowedFunctionNames?: string[];
}

/** The fields of a body that has tools. */
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

/** Names stand beside ANY, and beside VALIDATED where the model may also answer in words; AUTO takes none. */
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

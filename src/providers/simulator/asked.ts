// The body of a call as the simulator reads it: the OpenAI shape, as far as it affects the answer.
import { z } from "zod";

const tool = z.looseObject({
  function: z.looseObject({ name: z.string(), parameters: z.unknown().optional() }),
});

const message = z.looseObject({
  role: z.string(),
  content: z
    .union([z.string(), z.array(z.looseObject({ text: z.string().optional() })), z.null()])
    .optional(),
});

export const askedSchema = z.looseObject({
  model: z.string(),
  messages: z.array(message).min(1),
  max_tokens: z.number().int().positive().optional(),
  max_completion_tokens: z.number().int().positive().optional(),
  tools: z.array(tool).optional(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning_effort: z.string().optional(),
  response_format: z
    .looseObject({ type: z.string(), json_schema: z.looseObject({ schema: z.unknown() }).optional() })
    .optional(),
  n: z.number().int().min(1).max(16).optional(),
  seed: z.number().optional(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().int().min(0).max(20).nullish(),
  stream: z.boolean().optional(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
});

/** `documentTokens` are those of documents beside the texts. */
export type Asked = z.infer<typeof askedSchema> & { documentTokens?: number };

/** Returns the text of a message, parts joined. */
export function messageText({ content }: Asked["messages"][number]): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part) => part.text ?? "").join(" ") : "";
}

/** Returns every text that a model would read, for counting. */
export function promptTexts(asked: Asked): string[] {
  const { messages, tools, response_format: format } = asked;
  return [
    ...messages.map((said) => JSON.stringify(said.content ?? "")),
    ...messages.flatMap((said) => ("tool_calls" in said ? [JSON.stringify(said["tool_calls"])] : [])),
    ...(tools ?? []).map(({ function: called }) => JSON.stringify(called)),
    ...(format?.json_schema === undefined ? [] : [JSON.stringify(format.json_schema.schema)]),
  ];
}

// How much of a request reaches the model, in UTF-8 bytes and pieces (money.md §6). For byte-level tokenizers tokens
// never outnumber bytes, so this is the safe side of the prompt bound: nothing that is forwarded as text is left out.
import type { ChatRequest, ContentPart, Message, PromptSize } from "./chat-request.ts";

/** Measures messages, tools and response schema. Image addresses weigh nothing here: images have a flat maximum. */
export function measurePrompt(
  request: Pick<ChatRequest, "messages" | "tools" | "responseFormat">,
): PromptSize {
  const { messages, tools, responseFormat } = request;
  const size: PromptSize = { bytes: 0, messages: messages.length, tools: tools.length, images: 0 };
  for (const message of messages) addMessage(message, size);
  if (tools.length > 0) size.bytes += jsonBytes(tools);
  if (responseFormat?.type === "json_schema") size.bytes += jsonBytes(responseFormat.json_schema);
  return size;
}

function addMessage(message: Message, size: PromptSize): void {
  if (typeof message.content === "string") size.bytes += textBytes(message.content);
  else for (const part of message.content ?? []) addPart(part, size);
  size.bytes += textBytes(message.name) + textBytes(message.refusal) + textBytes(message.reasoning_content);
  for (const call of message.tool_calls ?? []) {
    size.bytes += textBytes(call.function.name) + textBytes(call.function.arguments);
    if (call.extra_content !== undefined) size.bytes += jsonBytes(call.extra_content);
  }
}

function addPart(part: ContentPart, size: PromptSize): void {
  switch (part.type) {
    case "text":
      size.bytes += textBytes(part.text);
      break;
    case "refusal":
      size.bytes += textBytes(part.refusal);
      break;
    case "image_url":
      size.images++;
      break;
  }
}

const textBytes = (text: string | undefined): number => (text === undefined ? 0 : Buffer.byteLength(text));

/** Schemas and provider state count as the JSON text in which they are sent. */
const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

// All surfaces of this gateway.
import { chatCompletions } from "./chat-completions/chat-completions.ts";
import { completions } from "./completions/completions.ts";
import { embeddings } from "./embeddings/embeddings.ts";
import type { Format } from "./format.ts";
import { messages } from "./messages/messages.ts";
import { responses } from "./responses/responses.ts";

export const FORMATS: readonly Format[] = [
  chatCompletions, //
  completions,
  embeddings,
  messages,
  responses,
];

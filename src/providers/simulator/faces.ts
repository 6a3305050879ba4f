// Every wire shape of the simulator, one line each.
import { anthropicMessages } from "./anthropic/face.ts";
import { converse } from "./bedrock/face.ts";
import { chatCompletions } from "./chat-completions.ts";
import type { Face } from "./face.ts";
import { embeddingsFace } from "./embeddings.ts";
import { generateContent } from "./google/face.ts";
import { openaiResponses } from "./responses/face.ts";

export const FACES: readonly Face[] = [
  chatCompletions, //
  embeddingsFace,
  anthropicMessages,
  converse,
  generateContent,
  openaiResponses,
];

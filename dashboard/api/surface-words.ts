// The translators of all surfaces that the playground supports: the page has one conversation, written and read as a
// chat completion.
import type { SpokenSurface } from "../../src/domain/surfaces.ts";
import type { Chunk } from "./chat.ts";
import { messageWords } from "./message-words.ts";
import { responseWords } from "./response-words.ts";
import type { Words } from "./words.ts";

export const WORDS: Readonly<Record<SpokenSurface, Words>> = {
  "chat.completions": {
    body: (request) => request,
    event: (data) => data as Chunk,
    whole: (answer) => answer as Chunk,
  },
  responses: responseWords,
  messages: messageWords,
};

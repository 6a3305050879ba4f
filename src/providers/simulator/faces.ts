// Every wire shape that the simulator speaks, one line each.
import { chatCompletions } from "./chat-completions.ts";
import type { Face } from "./face.ts";

export const FACES: readonly Face[] = [
  chatCompletions, //
];

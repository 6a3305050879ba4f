// The thread that counts tokens, so that the loop which serves requests never does (hardening S22). `token-counter.ts`
// starts it. A build to one file must name this file as a second entry point.
import { countText } from "./token-pieces.ts";
import type { CountAnswer, CountQuestion } from "./token-counter.ts";

declare const self: Worker;

self.addEventListener("message", ({ data }: MessageEvent<CountQuestion>) => {
  void answer(data);
});

async function answer({ id, text, tokenizer }: CountQuestion): Promise<void> {
  const answered: CountAnswer = await countText(text, tokenizer).then(
    (tokens) => ({ id, tokens }),
    (error: unknown) => ({ id, error: String(error) }),
  );
  self.postMessage(answered);
}

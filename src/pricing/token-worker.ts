// The thread that counts tokens, so that the event loop that serves requests never does (hardening S22).
// `counting-thread.ts` starts it. A build into one file must name this file as a second entry point.
import type { CountAnswer, CountQuestion } from "./counting-thread.ts";
import { countText } from "./token-pieces.ts";

declare const self: Worker;

self.addEventListener("message", ({ data }: MessageEvent<CountQuestion>) => {
  void answer(data);
});

async function answer({ id, texts }: CountQuestion): Promise<void> {
  const answered: CountAnswer = await Promise.all(
    texts.map(({ text, tokenizer }) => countText(text, tokenizer)),
  ).then(
    (tokens) => ({ id, tokens }),
    (error: unknown) => ({ id, error: String(error) }),
  );
  self.postMessage(answered);
}

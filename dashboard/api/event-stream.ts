// Server-sent events of a completion.
import { EventSourceParserStream } from "eventsource-parser/stream";

/** Yields the data of each event up to `[DONE]`; leaving earlier ends the call. */
export async function* eventsOf({ body }: Response): AsyncGenerator<string> {
  if (body === null) return;
  const texts = body.pipeThrough(new TextDecoderStream());
  const reader = texts.pipeThrough(new EventSourceParserStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || value.data === "[DONE]") return;
      yield value.data;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

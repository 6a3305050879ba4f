// The events of a simulated stream, with the ordered faults. A step says what to do next; the server does it.
import type { Behaviour } from "./behaviour.ts";
import type { Said, StreamWords } from "./face.ts";

export type Step = ({ do: "send" } & Said) | { do: "hang" } | { do: "reset" };

export function* streamOf(words: StreamWords, behaviour: Behaviour): Generator<Step> {
  let sent = 0;
  for (const event of words.events) {
    if (sent === behaviour.reset_after_events) return yield { do: "reset" };
    if (sent === behaviour.hang_after_events) return yield { do: "hang" };
    if (sent === behaviour.error_after_events) return yield unpaid(words.error);
    sent += 1;
    yield { do: "send", ...event };
    if (behaviour.duplicate_events === true) yield unpaid(event.bytes);
  }
  if (behaviour.no_finish === true) return;
  yield unpaid(words.end);
  if (behaviour.after_done === true) yield unpaid(words.late);
}

const unpaid = (bytes: Said["bytes"]): Step => ({ do: "send", bytes, tokens: 0 });

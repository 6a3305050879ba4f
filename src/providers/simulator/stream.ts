// The events of a simulated stream, with the faults that were ordered. A step says what to do next; the server does it.
import type { SimulatedAnswer } from "./answer.ts";
import type { Behaviour } from "./behaviour.ts";
import { logprobsOf } from "./logprobs.ts";
import { type Head, printChunk, simulatedUsage } from "./print.ts";

export type Step = { do: "send"; text: string; tokens: number } | { do: "hang" } | { do: "reset" };

const ERROR_EVENT = `data: ${JSON.stringify({ error: { message: "the simulated model failed", type: "server_error", code: "server_error" } })}\n\n`;

export function* streamOf(
  head: Head,
  answer: SimulatedAnswer,
  options: { behaviour: Behaviour; includeUsage: boolean },
): Generator<Step> {
  const { behaviour, includeUsage } = options;
  let sent = 0;
  for (const event of events(head, answer, behaviour)) {
    if (sent === behaviour.reset_after_events) return yield { do: "reset" };
    if (sent === behaviour.hang_after_events) return yield { do: "hang" };
    if (sent === behaviour.error_after_events) return yield { do: "send", text: ERROR_EVENT, tokens: 0 };
    sent += 1;
    yield event;
    if (behaviour.duplicate_events === true) yield { ...event, tokens: 0 };
  }
  if (behaviour.no_finish === true) return;
  const usage =
    includeUsage && behaviour.no_usage !== true
      ? printChunk(head, [], simulatedUsage(answer, behaviour))
      : "";
  yield { do: "send", text: `${usage}data: [DONE]\n\n`, tokens: 0 };
  if (behaviour.after_done === true)
    yield { do: "send", text: printChunk(head, [{ index: 0, delta: { content: "late" } }]), tokens: 0 };
}

function* events(
  head: Head,
  answer: SimulatedAnswer,
  behaviour: Behaviour,
): Generator<Extract<Step, { do: "send" }>> {
  const perEvent = behaviour.tokens_per_chunk ?? 1;
  for (const [index, { fragments, finishReason }] of answer.choices.entries()) {
    const chunk = (delta: unknown, logprobs: unknown, finish_reason: string | null = null): string =>
      printChunk(head, [{ index, delta, logprobs, finish_reason }]);
    const early = behaviour.usage_first === true && index === 0 ? simulatedUsage(answer, behaviour) : null;
    const role = { index, delta: { role: "assistant", content: "" }, logprobs: null, finish_reason: null };
    yield { do: "send", text: printChunk(head, [role], early), tokens: 0 };
    for (let at = 0; at < fragments.length; at += perEvent) {
      const group = fragments.slice(at, at + perEvent);
      yield {
        do: "send",
        text: group
          .map((fragment) => chunk(fragment.delta, logprobsOf([fragment], answer.topLogprobs)))
          .join(""),
        tokens: group.reduce((total, { tokens }) => total + tokens, 0),
      };
    }
    if (behaviour.no_finish !== true) yield { do: "send", text: chunk({}, null, finishReason), tokens: 0 };
  }
}

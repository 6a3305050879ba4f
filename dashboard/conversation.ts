// The turns of a conversation. Each request repeats everything said before it, which is paid again as a prompt.
import { useState } from "react";
import type { Message, ToolCall } from "./api/chat.ts";
import { type Completion, isRunning, type Sending, useCompletion } from "./completion.ts";

export interface Turn {
  /** A message of the user, or the results of the tools that the turn before called. */
  asked: readonly Message[];
  completion: Completion;
}

export function useConversation(org: string) {
  const { completion, start, stop, clear } = useCompletion(org);
  const [past, setPast] = useState<readonly Turn[]>([]);
  const [asked, setAsked] = useState<readonly Message[]>([]);
  const turns = completion.phase === "idle" ? past : [...past, { asked, completion }];
  return {
    turns,
    running: isRunning(completion),
    /** The messages that the next request repeats. */
    messages: turns.flatMap(messagesOf),
    /** Tool calls of the last answer that wait for their results. */
    calls: callsOf(turns.at(-1)),
    say: (said: readonly Message[], sending: Sending): Promise<Completion> => {
      setPast(turns);
      setAsked(said);
      return start(sending);
    },
    stop,
    clear: (): void => {
      stop();
      setPast([]);
      clear();
    },
  };
}

export type Conversation = ReturnType<typeof useConversation>;

/** Only complete calls: a stopped stream may contain half of one. */
const callsOf = (turn: Turn | undefined): readonly ToolCall[] =>
  turn?.completion.phase === "settled" ? turn.completion.calls : [];

/** Empty if the turn produced nothing that a next request could build on. */
function messagesOf(turn: Turn): readonly Message[] {
  const { phase, content } = turn.completion;
  const calls = callsOf(turn);
  const ended = phase === "settled" || phase === "stopped";
  if (!ended || (content === "" && calls.length === 0)) return [];
  return [
    ...turn.asked,
    {
      role: "assistant",
      content: content === "" ? null : content,
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ];
}

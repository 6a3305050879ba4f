// One message to one model or to two side by side: which models are asked, whether they may be asked now, and what
// each is sent.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Message } from "../../api/chat.ts";
import { type Conversation, useConversation } from "../../conversation.ts";
import { quoteQuery } from "./quote.ts";
import type { Asked, Terms } from "./terms.ts";

/** A model that is asked, and its conversation. */
export interface Pair {
  asked: Asked;
  with: Conversation;
}

export type Dialogue = ReturnType<typeof useDialogue>;

export function useDialogue(org: string, terms: Terms) {
  const queries = useQueryClient();
  const [message, setMessage] = useState("");
  const [left, right] = [useConversation(org), useConversation(org)];
  const pairs: Pair[] = [
    ...(terms.first ? [{ asked: terms.first, with: left }] : []),
    ...(terms.second ? [{ asked: terms.second, with: right }] : []),
  ];
  const running = left.running || right.running;
  const owed = pairs.some(({ with: { calls } }) => calls.length > 0);
  const ready = terms.key !== "" && message.trim() !== "" && terms.toolsProblem === null && !owed;
  const spoken: Message = { role: "user", content: message };
  const say = async ({ asked, with: one }: Pair, said: readonly Message[]) => {
    const request = terms.bodyOf(asked, [...one.messages, ...said]);
    const paid = { key: terms.key, surface: terms.surface };
    // The bound on the screen, if it is for this very request; if the person sent before it was requested, it is
    // requested now.
    const promptTokens = queries.ensureQueryData(quoteQuery(org, { ...paid, request })).then(
      ({ prompt_tokens_max: bound }) => bound,
      () => null, // then the answer shows no running price, and is charged all the same
    );
    return await one.say(said, { ...paid, request, promptTokens });
  };
  return {
    message,
    setMessage,
    pairs,
    running,
    /** Results of tools come first. */
    owed,
    ready,
    begun: left.turns.length + right.turns.length > 0,
    /** The request that the message would become. */
    requestTo: (asked: Asked, one: Conversation) => terms.bodyOf(asked, [...one.messages, spoken]),
    /** The request to the first model; null if there is none. */
    firstRequest: () => (terms.first ? terms.bodyOf(terms.first, [...left.messages, spoken]) : null),
    say,
    send: async (): Promise<void> => {
      if (!ready || running) return;
      const ended = await Promise.all(pairs.map((pair) => say(pair, [spoken])));
      // A message that got no answer stays in the field, to be sent again.
      if (ended.some(({ phase }) => phase === "settled" || phase === "stopped")) setMessage("");
    },
    stop: (): void => {
      left.stop();
      right.stop();
    },
    clear: (): void => {
      left.clear();
      right.clear();
    },
  };
}

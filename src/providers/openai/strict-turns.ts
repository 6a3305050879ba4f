// Turns as Mistral takes them, which refuses others with 400: what tools said right behind the calls, one turn of the assistant's between
// that and whoever speaks next, system messages in front of the first answer, and no answer last that is not meant to be gone on with.
import { createHash } from "node:crypto";
import type { Message } from "../../domain/chat-request.ts";
import { resultsOf } from "../turns.ts";

type Turn = Message & { prefix?: true };

/** Stands between what a tool said and what somebody else says next, where no model answered. */
const BRIDGE = "Understood.";

/** The same conversation in the order, with the roles and the ids that such a vendor takes. */
export function strictTurns(messages: readonly Message[]): Message[] {
  const turns: Turn[] = [];
  const results = resultsOf(messages);
  for (const message of messages) {
    if (message.role === "tool") continue; // stands behind its call
    const turn = plain(message);
    if (turn.role === "system" && spoken(turns)) turn.role = "user";
    if (turn.role === "user" && turns.at(-1)?.role === "tool")
      turns.push({ role: "assistant", content: BRIDGE });
    turns.push(turn);
    for (const [at, call] of (message.tool_calls ?? []).entries())
      for (const result of results.get(call) ?? [])
        turns.push({ ...plain(result), tool_call_id: turn.tool_calls?.[at]?.id ?? nineOf(call.id) });
  }
  const last = turns.at(-1);
  if (last?.role === "assistant" && turns.length > 1) last.prefix = true;
  return turns;
}

const spoken = (turns: readonly Turn[]): boolean =>
  turns.some(({ role }) => role === "assistant" || role === "tool");

/** Members of a message that it knows. What the model refused with is what it said. */
function plain({ name: _name, refusal, ...message }: Message): Turn {
  const turn: Turn = { ...message, role: message.role === "developer" ? "system" : message.role };
  if (turn.content === null && refusal !== undefined) turn.content = refusal;
  if (Array.isArray(turn.content))
    turn.content = turn.content.map((part) =>
      part.type === "refusal" ? { type: "text", text: part.refusal } : part,
    );
  if (turn.tool_calls !== undefined)
    turn.tool_calls = turn.tool_calls.map((call) => ({ ...call, id: nineOf(call.id) }));
  return turn;
}

const NINE = /^[A-Za-z0-9]{9}$/;

/** Nine letters and digits: the id itself where it is of that form, else always the same ones for it. */
const nineOf = (id: string): string =>
  NINE.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 9);

// Turns in the order that Mistral requires; it rejects others with 400. Tool results come right after their calls, an
// assistant's turn comes between them and the next speaker, system messages come before the first answer, and a
// conversation that ends with an answer asks to continue that answer.
import { createHash } from "node:crypto";
import type { Message } from "../../domain/chat-request.ts";
import { resultsOf } from "../turns.ts";

type Turn = Message & { prefix?: true };

/** Inserted between a tool result and the next speaker, if no model answered. */
const BRIDGE = "Understood.";

/** Returns the same conversation in the order, with the roles and the ids that such a vendor accepts. */
export function strictTurns(messages: readonly Message[]): Message[] {
  const turns: Turn[] = [];
  const results = resultsOf(messages);
  for (const message of messages) {
    if (message.role === "tool") continue; // added after its call
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

/** Keeps the members of a message that it knows. A refusal becomes the message's text. */
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

/** Returns nine letters and digits: the id itself if it has that form, else a hash of it. */
const nineOf = (id: string): string =>
  NINE.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 9);

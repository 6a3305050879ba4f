// The body of a message that is not streamed: built from the answer of a provider of another shape, or the vendor's own body with
// our names and figures in it, everything else and the order unchanged (surfaces.md §4).
import { exactObject } from "../../../domain/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../../domain/read-value.ts";
import { wireJson } from "../../../domain/wire-json.ts";
import type { Answer, AnswerChoice } from "../../../providers/provider.ts";
import type { AnswerFigures, AnswerHead } from "../format.ts";
import { sealedState, UNSIGNED } from "../../../domain/carried-state.ts";
import { citationOf } from "./citation.ts";
import { usageOfMessage } from "./message-usage.ts";
import { NamedCalls } from "./named-calls.ts";
import { STOP_REASONS } from "./stop-reason.ts";

/** The id of a message: the request's digits with another prefix (surfaces.md §2). */
export const messageId = (requestId: string): string => `msg_${requestId.slice(4)}`;

/** Prints the whole body. */
export function printMessage(head: AnswerHead, answer: Answer, { usage, gateway }: AnswerFigures): string {
  const ours = {
    id: messageId(head.requestId),
    type: "message",
    role: "assistant",
    model: head.model,
  };
  const told = usageOfMessage(usage);
  const body = answer.native
    ? asTold(answer.native, { ...ours, ...untold(answer), usage: told }, new NamedCalls(head.requestId))
    : { ...ours, ...partsOf(answer), usage: told };
  return `${wireJson(body).slice(0, -1)},"gateway":${gateway}}`;
}

/**
 * The vendor's body with our members. Usage that only the vendor reports stays, and so does each block, except that calls without
 * an id get one.
 */
function asTold(told: JsonObject, ours: { usage: object }, calls: NamedCalls): object {
  const usage = typeof told.usage === "object" ? { ...told.usage, ...ours.usage } : ours.usage;
  const content = Array.isArray(told.content)
    ? told.content.map((block: unknown) => (isJsonObject(block) ? calls.named(block) : block))
    : told.content;
  return { ...told, content, ...ours, usage, gateway: undefined }; // ours comes last
}

/** Members that clients read at the end of a message, added where the vendor omits them. */
function untold({ native, choices: [choice] }: Answer): object {
  const ended = { stop_reason: STOP_REASONS[choice?.finishReason ?? "stop"], stop_sequence: null };
  return Object.fromEntries(Object.entries(ended).filter(([name]) => native?.[name] === undefined));
}

function partsOf({ choices: [choice] }: Answer): object {
  const content = choice === undefined ? [] : contentOf(choice);
  const refused = choice?.refusal !== null && choice?.finishReason === "stop";
  return {
    content,
    stop_reason: refused ? "refusal" : STOP_REASONS[choice?.finishReason ?? "stop"],
    stop_sequence: null,
  };
}

/** Reasoning, text, calls: the order that a neutral answer keeps. */
function contentOf({ reasoning, content, refusal, toolCalls, annotations }: AnswerChoice): object[] {
  const citations = (annotations ?? []).map((annotation) => citationOf(annotation, content ?? ""));
  return [
    ...(reasoning ? [{ type: "thinking", thinking: reasoning, signature: UNSIGNED }] : []),
    ...(content ? [{ type: "text", text: content, ...(citations.length > 0 && { citations }) }] : []),
    ...(refusal ? [{ type: "text", text: refusal }] : []),
    ...toolCalls.flatMap(({ id, name, arguments: text, extraContent }) => [
      ...(extraContent === undefined ? [] : [{ type: "redacted_thinking", data: sealedState(extraContent) }]),
      { type: "tool_use", id, name, input: inputOf(text) },
    ]),
  ];
}

/** Arguments are an object here; if the model wrote something else, it is shown as it is. */
function inputOf(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    const input: unknown = JSON.parse(text);
    if (isJsonObject(input)) return exactObject(text, input);
  } catch {
    // the model failed: its text is shown below
  }
  return { arguments: text };
}

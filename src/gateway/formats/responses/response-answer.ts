// The body of a response that is not streamed.
import type { Answer, AnswerChoice } from "../../../providers/provider.ts";
import type { AnswerFigures, AnswerHead } from "../format.ts";
import { wholeOutput } from "./native-items.ts";
import { printNativeResponse } from "./native-response.ts";
import type { ParsedResponseRequest } from "./parse-response-request.ts";
import {
  type ItemStatus,
  printCall,
  printLogprobs,
  printSpoken,
  printRefused,
  printText,
  printThought,
} from "./output-items.ts";
import { itemId, printResponseUsage, REASONS, ResponseHead } from "./response-object.ts";
import { type CarriedState, sealState } from "./sealed-state.ts";

/** Prints the whole body: the vendor's own if it came in this shape. */
export function printResponse(
  head: AnswerHead,
  answer: Answer,
  figures: AnswerFigures,
  asked: ParsedResponseRequest,
): string {
  const { native } = answer;
  if (native)
    return printNativeResponse(
      native,
      { head, body: asked.body, ours: { output: wholeOutput(native.output, head.requestId) } },
      { usage: printResponseUsage(figures.usage), gateway: figures.gateway },
    );
  const [choice] = answer.choices;
  const reason = choice === undefined ? undefined : REASONS[choice.finishReason];
  const told = {
    output: choice === undefined ? "" : itemsOf(choice, head.requestId, asked).join(","),
    usage: printResponseUsage(figures.usage),
    gateway: figures.gateway,
  };
  const response = new ResponseHead(head, asked.body);
  return reason === undefined
    ? response.print({ ...told, status: "completed" })
    : response.print({ ...told, status: "incomplete", reason });
}

/** In the order in which they were said; state that must come back with a call is sealed into the reasoning item in front of it. */
function itemsOf(choice: AnswerChoice, requestId: string, { offered }: ParsedResponseRequest): string[] {
  const { content, refusal, reasoning, logprobs, annotations, toolCalls, finishReason } = choice;
  const items: string[] = [];
  const idOf = (prefix: string): string => itemId(requestId, prefix, items.length);
  const parts = [
    ...(content ? [printText(content, printLogprobs(logprobs), annotations ?? [])] : []),
    ...(refusal ? [printRefused(refusal)] : []),
  ];
  const [first] = toolCalls;
  const led = reasoning && parts.length === 0 && first?.extraContent ? first : null;
  const state: CarriedState =
    led === null ? { call: null, extra: {} } : { call: led.id, extra: led.extraContent ?? {} };
  if (reasoning) items.push(printThought(idOf("rs"), reasoning, sealState(state)));
  const cut: ItemStatus = REASONS[finishReason] === undefined ? "completed" : "incomplete";
  const last = toolCalls.at(-1);
  if (parts.length > 0)
    items.push(printSpoken(idOf("msg"), last === undefined ? cut : "completed", parts.join(",")));
  for (const call of toolCalls) {
    const { id, name, extraContent: extra } = call;
    if (extra !== undefined && call !== led)
      items.push(printThought(idOf("rs"), null, sealState({ call: id, extra })));
    const tool = offered.byHeard.get(name) ?? { kind: "function", name, namespace: null };
    const called = { id: idOf(tool.kind === "custom" ? "ctc" : "fc"), callId: id, tool };
    items.push(printCall(called, call === last ? cut : "completed", call.arguments));
  }
  return items;
}

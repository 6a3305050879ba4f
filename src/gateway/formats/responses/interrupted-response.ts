// The end of a stream whose printer is gone (money.md §3): what was sent of it shows what is open, and everything about its
// response.
import { isJsonObject, type JsonObject } from "../../../domain/read-value.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import type { InterruptedAt } from "../format.ts";
import { EventLine } from "./event-line.ts";
import { printNativeResponse, responseIn } from "./native-response.ts";
import { NativeStream } from "./native-stream.ts";
import { printFailure } from "./response-errors.ts";
import { ResponseHead } from "./response-object.ts";

const EVENT = /^event: (.*)\ndata: (.*)$/gm;

/** Closes what is open, as far as what was sent is still there, and ends the response as failed. */
export function printResponseInterrupted(
  refusal: Refusal,
  requestId: string,
  { gateway, number, sent }: InterruptedAt,
): string {
  const stream = new NativeStream(requestId);
  for (const [, event = "", data = ""] of sent.matchAll(EVENT)) {
    const told = wholeEvent(data);
    if (told === null) continue;
    if (event === "response.created") stream.told = responseIn(told);
    else stream.output.again({ event, data, told });
  }
  const line = EventLine.resumedAt(number - 1);
  const events = stream.output.closeAll(line, "incomplete");
  const figures = { usage: "null", gateway };
  const failed = { status: "failed", error: printFailure(refusal) } as const;
  const { public_model: model = "" } = JSON.parse(gateway) as { public_model?: string };
  const told = stream.told.model;
  const head = { requestId, created: 0, model: typeof told === "string" ? told : model };
  const response =
    "id" in stream.told
      ? printNativeResponse(stream.ended(failed), { head, body: stream.told }, figures)
      : new ResponseHead(head, {}).print({ ...failed, ...figures, output: "" });
  return events + line.print("response.failed", `"response":${response}`);
}

/** The stored text is ours, but a damaged event must not keep a request from its end. */
function wholeEvent(data: string): JsonObject | null {
  try {
    const event: unknown = JSON.parse(data);
    return isJsonObject(event) ? event : null;
  } catch {
    return null;
  }
}

// How a keyed stream ends if its gateway died in the middle of it: what was sent, then an error with the receipt of what was
// charged, and no terminator (money.md §3 `mid_stream`). The retry gets exactly this. A follower of a stream of which nothing was
// settled, or not enough was stored, gets an error without figures.
import { Refusal } from "../domain/refusals.ts";
import { resultNotRetained } from "../ledger/decide/policy-refusals.ts";
import type { PrintInterrupted } from "../ledger/recovery.ts";
import { EVENT_STREAM, lastEventOf } from "./event-stream.ts";
import type { Format } from "./formats/format.ts";
import type { IdempotencyKey } from "./idempotency.ts";
import type { PrintLost } from "./replay-buffer.ts";
import { printGateway, receiptOfRecord } from "./receipt.ts";

const interrupted = (): Refusal =>
  new Refusal(
    "provider_error",
    "The gateway was interrupted in the middle of this answer. The prompt and the tokens delivered until then were " +
      "charged (see gateway.cost). To get a complete answer, send the request again with a new Idempotency-Key, or without one.",
    { retry: false },
  );

/** Null for a stream whose format is not known here: its answer is not stored, and a retry is told that. */
export const interruptedStreams =
  (formats: readonly Format[]): PrintInterrupted =>
  (settled, release, sent) => {
    const { requestId } = settled;
    const text = Buffer.from(sent).toString();
    const format = formats.find((one) => one.recognizes(text));
    if (format === undefined) return null;
    const gateway = printGateway(receiptOfRecord(settled, release));
    const at = { gateway, number: lastEventOf(text) + 1, sent: text };
    const last = format.printInterrupted(interrupted(), requestId, at);
    return {
      requestId,
      status: 200,
      headers: { "content-type": EVENT_STREAM },
      body: Buffer.concat([sent, Buffer.from(last)]),
    };
  };

const lost = (): Refusal =>
  new Refusal(
    "provider_error",
    "The gateway that was running this request was lost in the middle of the answer. Send the same request again to learn " +
      "whether anything was charged for it. To get a complete answer, send it with a new Idempotency-Key, or without one.",
    { retry: false },
  );

/** For followers of this request's stream if nothing in the ledger could end it. */
export const printLostStream =
  (format: Format, requestId: string, idempotency: IdempotencyKey): PrintLost =>
  (end, at) => {
    const gateway = printGateway({
      requestId,
      idempotency,
      route: null,
      researchMode: false,
      attempts: 0,
      cost: null,
    });
    const refusal = end === "unkept" ? resultNotRetained(requestId) : lost();
    return format.printInterrupted(refusal, requestId, { gateway, ...at });
  };

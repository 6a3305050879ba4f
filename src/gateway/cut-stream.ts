// How a keyed stream ends whose gateway died in the middle of it: what was sent, then an error with the receipt of what
// was charged for it, and no terminator (money.md §3 `mid_stream`). The retry gets exactly this; who follows a stream of
// which nothing was settled, or not enough was kept, gets an error without figures.
import { printError } from "../contract/error-body.ts";
import { Refusal } from "../contract/refusals.ts";
import { resultNotRetained } from "../ledger/policy-refusals.ts";
import type { PrintCut } from "../ledger/recovery.ts";
import { EVENT_STREAM } from "./frames.ts";
import { type IdempotencyKey, idempotencyRecord } from "./idempotency.ts";
import { lastEventOf, type PrintLost } from "./kept-stream.ts";
import { printGateway, receiptOfRecord } from "./receipt.ts";

const interrupted = (): Refusal =>
  new Refusal(
    "provider_error",
    "The gateway was interrupted in the middle of this answer. The prompt and the tokens delivered until then were " +
      "charged, see gateway.cost. Send the request again with a new Idempotency-Key, or none, for a whole answer.",
    { retry: false },
  );

export const printCutStream: PrintCut = (settled, release, sent) => {
  const { requestId } = settled;
  const gateway = printGateway(receiptOfRecord(settled, release));
  const data = printError(interrupted(), requestId, gateway);
  const last = numbered(lastEventOf(Buffer.from(sent).toString()) + 1, data);
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
    "The gateway that ran this request was lost in the middle of the answer. Send the same request again to learn " +
      "whether anything was charged for it; send it with a new Idempotency-Key, or none, for a whole answer.",
    { retry: false },
  );

/** For those who follow the stream of this request when there is nothing in the ledger that could end it. */
export const printLostStream =
  (requestId: string, idempotency: IdempotencyKey): PrintLost =>
  (end, number) => {
    const gateway = printGateway({
      requestId,
      idempotency: idempotencyRecord(idempotency),
      route: null,
      researchMode: false,
      attempts: 0,
      cost: null,
    });
    const refusal = end === "unkept" ? resultNotRetained(requestId) : lost();
    return numbered(number, printError(refusal, requestId, gateway));
  };

const numbered = (number: number, data: string): string => `id: ${number}\ndata: ${data}\n\n`;

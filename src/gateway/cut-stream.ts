// How a keyed stream ends whose gateway died in the middle of it: what was sent, then an error with the receipt of what
// was charged for it, and no terminator (money.md §3 `mid_stream`). The retry gets exactly this.
import { printError } from "../contract/error-body.ts";
import { Refusal } from "../contract/refusals.ts";
import type { PrintCut } from "../ledger/recovery.ts";
import { EVENT_STREAM } from "./frames.ts";
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
  const last = `id: ${lastEventOf(sent) + 1}\ndata: ${data}\n\n`;
  return {
    requestId,
    status: 200,
    headers: { "content-type": EVENT_STREAM },
    body: Buffer.concat([sent, Buffer.from(last)]),
  };
};

/** The number of the last whole event that was sent. */
function lastEventOf(sent: Uint8Array): number {
  const text = Buffer.from(sent).toString();
  const at = text.lastIndexOf("\n\nid: ");
  return Number.parseInt(at === -1 ? text.slice("id: ".length) : text.slice(at + "\n\nid: ".length), 10);
}

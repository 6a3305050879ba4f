// GET /v1/receipts/{request_id}: the signed receipt of a request of the same key, and GET /.well-known/jwks.json: the
// public key that verifies it, offline and for good.
import { missingRelease } from "../ledger/unreadable.ts";
import { Refusal } from "../domain/refusals.ts";
import type { ReceiptSigner } from "../gateway/signed-receipt.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { Handler } from "./context.ts";
import { ownRequest } from "./generation.ts";
import { withKey } from "./inference-door.ts";
import { replyJson } from "./reply.ts";
import { readRelease } from "../registry/releases.ts";

interface ReceiptPorts {
  ledger: Reader;
  receipts: ReceiptSigner;
}

export const receipts = ({ ledger, receipts: signer }: ReceiptPorts): Handler =>
  withKey(ledger, async (context, key) => {
    const record = await ownRequest(ledger, key, { id: context.rest, param: null });
    const release = record.state === "running" ? null : await readRelease(ledger, record.releaseDigest);
    if (release === null && record.state !== "running") throw missingRelease(record.requestId);
    if (release === null)
      throw new Refusal("receipt_not_ready", "This request still runs. Ask again when it has ended.", {
        retryAfterMs: 1000,
      });
    const { receipt, jws } = await signer.sign(record, release);
    return replyJson(context, { object: "receipt", id: record.requestId, jws, receipt });
  });

/** Public: whoever holds a receipt may verify it. */
export const jwks =
  (signer: ReceiptSigner): Handler =>
  async (context) =>
    replyJson(context, await signer.jwks());

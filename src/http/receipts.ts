// GET /v1/receipts/{request_id}: the signed receipt of a request of the same key. GET /.well-known/jwks.json: the public key that
// verifies it, offline and permanently.
import { type ReceiptPorts, type ReceiptSigner, signedReceiptOf } from "../gateway/signed-receipt.ts";
import type { Handler } from "./context.ts";
import { ownRequest } from "./generation.ts";
import { withKey } from "./inference-door.ts";
import { replyJson } from "./reply.ts";

export const receipts = (on: ReceiptPorts): Handler =>
  withKey(on.ledger, async (context, key) => {
    const record = await ownRequest(on.ledger, key, { id: context.rest, param: null });
    return replyJson(context, await signedReceiptOf(on, record));
  });

/** Public: anybody who has a receipt may verify it. */
export const jwks =
  (signer: ReceiptSigner): Handler =>
  async (context) =>
    replyJson(context, await signer.jwks());

// The signed receipt of a request, for people: the same that its key gets from `/v1/receipts`.
import { readRelease } from "../registry/releases.ts";
import { readRequest } from "../registry/requests.ts";
import { missingRelease } from "../ledger/unreadable.ts";
import { notFound } from "../domain/unknown-record.ts";
import type * as activityShapes from "../api/shapes/activity.ts";
import type { z } from "zod";
import { Refusal } from "../domain/refusals.ts";
import type { ReceiptSigner } from "../gateway/signed-receipt.ts";
import type { Reader } from "../ledger/ledger.ts";

export interface ReceiptPorts {
  ledger: Reader;
  receipts: Pick<ReceiptSigner, "sign">;
}

/** Throws when there is no such request of this organization, or while it runs. */
export async function signedReceiptOf(
  { ledger, receipts }: ReceiptPorts,
  organizationId: string,
  requestId: string,
): Promise<z.output<typeof activityShapes.signedReceipt>> {
  const record = await readRequest(ledger, requestId);
  if (record === null || record.organizationId !== organizationId) throw notFound("request");
  const release = record.state === "running" ? null : await readRelease(ledger, record.releaseDigest);
  if (release === null && record.state !== "running") throw missingRelease(record.requestId);
  if (release === null)
    throw new Refusal("receipt_not_ready", "This request still runs. Ask again when it has ended.", {
      retryAfterMs: 1000,
    });
  const { receipt, jws } = await receipts.sign(record, release);
  return { object: "receipt", id: record.requestId, jws, receipt };
}

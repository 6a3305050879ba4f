// The signed receipt of a request, for people: the same that its key gets from `/v1/receipts`.
import type { z } from "zod";
import type * as activityShapes from "../api/shapes/activity.ts";
import { notFound } from "../domain/unknown-record.ts";
import { type ReceiptPorts, signedReceiptOf } from "../gateway/signed-receipt.ts";
import { readRequest } from "../registry/requests.ts";

/** Throws if this organization has no such request, or while it is running. */
export async function receiptOfRequest(
  on: ReceiptPorts,
  organizationId: string,
  requestId: string,
): Promise<z.output<typeof activityShapes.signedReceipt>> {
  const record = await readRequest(on.ledger, requestId);
  if (record === null || record.organizationId !== organizationId) throw notFound("request");
  return await signedReceiptOf(on, record);
}

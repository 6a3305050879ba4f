// The signed receipt of a request, for people: the same that its key gets from `/v1/receipts`.
import { OperatorRefusal } from "../../contract/admin-refusals.ts";
import type { Desk } from "../../contract/desk.ts";
import { Refusal } from "../../contract/refusals.ts";
import type { ReceiptSigner } from "../../gateway/signed-receipt.ts";
import type { Ledger } from "../../ledger/ledger.ts";

export interface ReceiptPorts {
  ledger: Pick<Ledger, "release" | "request">;
  receipts: Pick<ReceiptSigner, "sign">;
}

export const receiptsDesk = ({ ledger, receipts }: ReceiptPorts): Pick<Desk, "receiptOf"> => ({
  async receiptOf(organizationId, requestId) {
    const record = await ledger.request(requestId);
    if (record === null || record.organizationId !== organizationId)
      throw new OperatorRefusal("not_found", "There is no record of this id.", "request");
    const release = record.state === "running" ? null : await ledger.release(record.releaseDigest);
    if (release === null)
      throw new Refusal("receipt_not_ready", "This request still runs. Ask again when it has ended.", {
        retryAfterMs: 1000,
      });
    const { receipt, jws } = await receipts.sign(record, release);
    return { object: "receipt", id: record.requestId, jws, receipt };
  },
});

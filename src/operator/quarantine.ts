// Requests with a damaged record: the list, and how an operator ends one (docs/operations.md).
import type { QuarantinedJson, ResolvedJson } from "../api/shapes/records.ts";
import type { ResolveRequest } from "../api/shapes/record-inputs.ts";
import type { Actor } from "../domain/actor.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { formatUsd } from "../domain/money.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { printTime } from "../domain/print.ts";
import { readUsd } from "../domain/read.ts";
import { pageOf } from "../store/page.ts";
import { type ListAsk, type ListOf, printPage, startOf } from "./list.ts";
import { findQuarantined, quarantined, type QuarantinedRecord } from "../ledger/quarantine.ts";

type Store = Pick<Ledger, "endByHand" | "read">;

const OLDEST = { atMs: -1, id: "" };

export const quarantine = (ledger: Store) => ({
  /** Requests with a damaged record, oldest first: their holds wait for a decision. */
  async quarantine(ask: ListAsk): Promise<ListOf<QuarantinedJson>> {
    const { after, limit } = startOf(ask, OLDEST);
    const rows = await quarantined(ledger, { after, limit: limit + 1 });
    const place = ({ sinceMs, requestId }: QuarantinedRecord) => ({ atMs: sinceMs, id: requestId });
    return printPage(pageOf(rows, { limit }, place), printQuarantined);
  },
  /** Ends one of them: charges at most what it held, or releases it. */
  async resolve(
    { requestId, field }: { requestId: string; field: RequestField },
    { charge_usd, reason }: ResolveRequest,
    actor: Actor,
  ): Promise<ResolvedJson> {
    const charge = charge_usd === null ? null : readUsd(charge_usd, "charge_usd");
    const held = await findQuarantined(ledger, requestId);
    if (held === null) throw notThere(requestId, field);
    const { organizationId } = held;
    const ended = await ledger.endByHand({ organizationId, requestId, charge, reason }, actor);
    switch (ended.kind) {
      case "ended":
        return {
          id: requestId,
          org: organizationId,
          charge_usd: formatUsd(ended.charge),
          balance_usd: formatUsd(ended.balance),
        };
      case "exceeds":
        throw new OperatorRefusal(
          "conflict",
          `At most $${formatUsd(ended.atMost)} can be charged: that much is held.`,
          "charge_usd",
        );
      case "unknown_request":
        throw notThere(requestId, field);
    }
  },
});

/** The input field that names the request. */
type RequestField = "id" | "request";

const notThere = (requestId: string, field: RequestField): OperatorRefusal =>
  new OperatorRefusal(
    "not_found",
    `There is no request ${requestId} in quarantine. It may have been resolved in the meantime.`,
    field,
  );

const printQuarantined = (record: QuarantinedRecord): QuarantinedJson => ({
  id: record.requestId,
  org: record.organizationId,
  key: record.keyId,
  model: record.model,
  held_usd: formatUsd(record.hold),
  admitted_at: printTime(record.admittedAtMs),
  since: printTime(record.sinceMs),
  reason: record.reason,
});

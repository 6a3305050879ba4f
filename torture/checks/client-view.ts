// What clients received against the ledger: the figures of a final `gateway` object are those of the ledger, whatever
// happened to the gateway afterwards, and delivered content is paid for.
import { formatUsd, nanoUsd, usdJsonNumber } from "../../src/domain/money.ts";
import { type Check, type Evidence, factsOf, receiptsIn, type Violation } from "../evidence.ts";
import type { Exchange } from "../history.ts";
import { endedWell, usedIn } from "../surfaces.ts";

export const clientView: Check = (evidence) =>
  evidence.found.history.exchanges.flatMap((exchange) => [
    ...receipts(evidence, exchange),
    ...answered(evidence, exchange),
    ...delivered(evidence, exchange),
  ]);

function receipts({ rows }: Evidence, exchange: Exchange): Violation[] {
  return receiptsIn(exchange).flatMap((receipt) => {
    const row = rows.get(receipt.requestId);
    const charge = nanoUsd(row?.charge ?? 0n);
    const ended = row?.state === "settled" || (row?.state === "released" && charge === 0n);
    const sameTokens =
      row?.variance !== 0n ||
      (receipt.inputTokens === (row.promptTokens ?? 0) &&
        receipt.outputTokens === (row.completionTokens ?? 0));
    if (ended && receipt.chargeUsd === usdJsonNumber(charge) && sameTokens) return [];
    const facts = { ...factsOf(exchange), receipt, row: row ?? null, ledgerUsd: formatUsd(charge) };
    return [{ broken: "a client holds figures that the ledger does not have", facts }];
  });
}

/** A whole answer is a settled request. */
function answered(evidence: Evidence, exchange: Exchange): Violation[] {
  const { status, ending, body, headers, request } = exchange;
  if (status !== 200 || ending !== "whole") return [];
  const isStream = headers["content-type"]?.startsWith("text/event-stream") === true;
  if (isStream && !endedWell(body, request)) return [];
  const row = evidence.row(exchange);
  const facts = { ...factsOf(exchange), row };
  if (row?.state !== "settled")
    return [{ broken: "a client has a whole answer that was never settled", facts }];
  const used = usedIn(body, request);
  if (used === null || row.variance !== 0n) return [];
  if (used[0] === row.promptTokens && used[1] === row.completionTokens) return [];
  return [{ broken: "a surface tells another usage than was charged", facts: { ...facts, used } }];
}

/** How long before its gateway's death content must have arrived to have been stored for certain (money.md §4). */
const KEPT_WITHIN_MS = { keyed: 1_200, unkeyed: 2_500 };

/** Content that reached the client is charged, unless its gateway died right after it. */
function delivered(evidence: Evidence, exchange: Exchange): Violation[] {
  if (exchange.contentAtMs === null) return [];
  const row = evidence.row(exchange);
  if (row === undefined)
    return [{ broken: "content of a request that the ledger does not know", facts: factsOf(exchange) }];
  if (evidence.found.history.quarantined.has(row.requestId)) return []; // an operator decided what it costs
  if (row.charge > 0n || (row.errorCode === "owner_lost" && !longKept(evidence, exchange))) return [];
  return [{ broken: "content was delivered for nothing", facts: { ...factsOf(exchange), row } }];
}

function longKept(evidence: Evidence, exchange: Exchange): boolean {
  const { contentAtMs, endedAtMs, request } = exchange;
  if (contentAtMs === null || evidence.stoodStill(exchange)) return false;
  // On an overloaded machine the write is as late as the start of the exchange was.
  const begunMs = contentAtMs - exchange.sentAtMs;
  const within = KEPT_WITHIN_MS[request.idempotencyKey === null ? "unkeyed" : "keyed"] + 2 * begunMs;
  const replayed = exchange.headers["idempotent-replayed"] === "true";
  const diedAtMs = Math.min(endedAtMs, evidence.diedAtMs(exchange));
  return request.stream && !replayed && exchange.ending === "cut" && diedAtMs - contentAtMs > within;
}

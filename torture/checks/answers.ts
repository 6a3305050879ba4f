// Every answer has its reason: in the plan (a failing provider, a limit, a misuse) or in the chaos at that time. An
// answer that nothing explains is a violation, and so is every bare 500.
import { type Check, type Evidence, errorCode, factsOf } from "../evidence.ts";
import { type Absence, type Exchange, type History, type Span, touches, touchesHere } from "../history.ts";
import { modelNamed } from "../models.ts";

export const answers: Check = (evidence) =>
  evidence.found.history.exchanges
    .filter(({ ending }) => ending !== "left")
    .filter((exchange) => !isExplained(evidence, exchange))
    .map((exchange) => ({ broken: "an answer that nothing explains", facts: factsOf(exchange) }));

function isExplained(evidence: Evidence, exchange: Exchange): boolean {
  const { status, ending } = exchange;
  const { found } = evidence;
  const { downs, pauses, closings } = found.history;
  if (ending === "cut")
    return touchesHere([...downs, ...evicted(pauses)], exchange) || followedTheDead(evidence, exchange);
  switch (errorCode(exchange)) {
    case null:
      return status === 200;
    case "provider_error":
    case "provider_timeout":
      return (
        !modelNamed(exchange.request.model).sound ||
        evidence.wasDown(exchange) ||
        evidence.stoodStill(exchange)
      );
    case "overloaded":
      return touchesHere([...downs, ...pauses], exchange);
    case "route_disabled":
    case "research_entitlement_required":
      return explains(
        evidence,
        closings.filter(({ what }) => what === exchange.request.model),
        exchange,
      );
    case "route_release_stale":
      return explains(evidence, stale(found.history, exchange.request.model), exchange);
    case "idempotency_outcome_unknown":
      return exchange.request.idempotencyKey !== null && evidence.wasDown(exchange);
    case "idempotency_in_progress":
      return exchange.request.idempotencyKey !== null;
    case "idempotency_result_not_retained":
      return endedByHand(evidence, exchange);
    case "idempotency_key_reused":
      return exchange.kind === "misuse";
    case "rate_limit_exceeded":
      return evidence.limited(exchange);
    case "context_length_exceeded":
      return exchange.request.ideographs > 0;
    // `refusals` checks the reasons of these.
    case "api_key_revoked":
    case "api_key_paused":
    case "api_key_expired":
      return status === 401;
    case "insufficient_credits":
      return status === 402;
    case "key_spend_limit_reached":
      return status === 403;
    default:
      return false;
  }
}

/** If an operator ended a request by hand, its answer is lost with the unreadable record. */
const endedByHand = ({ found }: Evidence, { request }: Exchange): boolean =>
  found.rows.some(
    ({ idempotencyKey, requestId }) =>
      idempotencyKey === request.idempotencyKey && found.history.quarantined.has(requestId),
  );

const LEASE_MS = 10_000;

/** A gateway that was paused for longer than its lease may find on waking that another gateway ended its requests. */
const evicted = (pauses: readonly Absence[]): Absence[] =>
  pauses.filter(
    ({ gateway, startMs, endMs }) => gateway !== null && (endMs ?? startMs) - startMs >= LEASE_MS,
  );

/** A follower of a stream that another gateway was sending breaks when that gateway dies. */
const followedTheDead = (evidence: Evidence, exchange: Exchange): boolean =>
  exchange.headers["idempotent-replayed"] === "true" && evidence.wasDown(exchange);

/**
 * What one gateway published or switched, the others read from the database before they refuse because of it, if they
 * can.
 */
const explains = (evidence: Evidence, closed: readonly Span[], exchange: Exchange): boolean =>
  touches(closed, exchange.sentAtMs, exchange.endedAtMs) || evidence.stoodStill(exchange);

/** From the expiry of each release, or from the request to publish its successor, until the successor is published. */
function stale({ releases }: History, model: string): Span[] {
  const ours = releases.filter((release) => release.model === model);
  return ours.map(({ route, version, expiresAtMs }) => {
    const next = ours.find(
      (release) => release.route === route && release.version > version && release.ackedMs,
    );
    const startMs = Math.min(expiresAtMs, next?.askedMs ?? expiresAtMs);
    return { what: model, startMs, endMs: next?.ackedMs ?? null };
  });
}

/** Processes that ended by themselves, and operator actions that were refused. */
export const accidents: Check = ({ found }) =>
  found.history.accidents.map((facts) => ({ broken: "an accident", facts }));

// Idempotency as callers see it: one key, one answer, the same bytes each time, and never a different one later.
import { type Check, type Evidence, factsOf, type Violation } from "../evidence.ts";
import { type Exchange, touches } from "../history.ts";
import { isBroken, sentOf } from "../surfaces.ts";

export const replays: Check = (evidence) => [
  ...[...evidence.claims.values()].flatMap((exchanges) => ofOneClaim(evidence, exchanges)),
  ...misuses(evidence),
];

function ofOneClaim(evidence: Evidence, exchanges: Exchange[]): Violation[] {
  const answers = exchanges.filter(({ status }) => status === 200);
  const whole = answers.filter(
    ({ ending, after, body, request }) => ending === "whole" && after === null && !isBroken(body, request),
  );
  const [first] = whole;
  const wrong = (broken: string, exchange: Exchange): Violation => ({
    broken,
    facts: { ...factsOf(exchange), first: first === undefined ? null : factsOf(first) },
  });
  const originals = Map.groupBy(
    answers.filter(({ headers }) => headers["idempotent-replayed"] !== "true"),
    ({ headers }) => headers["x-request-id"],
  );
  const twice = [...originals.values()].flatMap(([, second]) =>
    second === undefined ? [] : [wrong("an answer was sent twice without the replay header", second)],
  );
  if (first === undefined) return [...twice, ...brokenAlike(answers, wrong)];
  const others = answers.flatMap((answer) =>
    agrees(answer, first) ? [] : [wrong("a replay differs from the first answer", answer)],
  );
  const whatCameAfter = exchanges
    .filter(({ sentAtMs, status }) => sentAtMs > first.endedAtMs && status !== 200)
    .filter((exchange) => !mayBeRefused(evidence, exchange))
    .map((exchange) => wrong("a retry of an answered request did not get its answer", exchange));
  return [...twice, ...others, ...whatCameAfter];
}

/**
 * Broken streams: all those of one request that were ended were ended the same way, and contain what was sent before.
 */
function brokenAlike(
  answers: Exchange[],
  wrong: (broken: string, exchange: Exchange) => Violation,
): Violation[] {
  const byRequest = Map.groupBy(
    answers.filter(({ after }) => after === null),
    ({ headers }) => headers["x-request-id"],
  );
  return [...byRequest.values()].flatMap((exchanges) => {
    const isWhole = (one: Exchange): boolean => one.ending === "whole" && !isLost(one);
    const ended = exchanges.find(isWhole);
    if (ended === undefined) return [];
    return exchanges
      .filter((exchange) => (isWhole(exchange) ? exchange.body !== ended.body : !isWayTo(exchange, ended)))
      .map((exchange) => wrong("a replay of a broken stream differs from what was sent first", exchange));
  });
}

/** True if a cut stream and the stored one agree as far as both go; the stored one ends with an error event. */
function isWayTo({ body, request }: Exchange, { body: kept }: Exchange): boolean {
  const cut = sentOf(body, request);
  const before = sentOf(kept, request);
  return cut.startsWith(before) || kept.startsWith(cut) || before.startsWith(cut);
}

/** True if it ends like a dead gateway's stream for a follower, at whatever point. */
const isLost = ({ body, request }: Exchange): boolean =>
  isBroken(body, request) && body.includes("was lost in the middle of the answer");

/**
 * True if both answers to a request are the same bytes as far as received, counted from the event after
 * `Last-Event-ID`.
 */
function agrees(answer: Exchange, first: Exchange): boolean {
  if (answer.headers["x-request-id"] !== first.headers["x-request-id"]) return false;
  if (answer.after !== null)
    return answer.ending === "whole" ? first.body.endsWith(answer.body) : first.body.includes(answer.body);
  return answer.ending === "whole" ? answer.body === first.body : first.body.startsWith(answer.body);
}

/** A different body under a key that already has an answer. */
const misuses = (evidence: Evidence): Violation[] =>
  evidence.found.history.exchanges
    .filter(({ kind, status }) => kind === "misuse" && status !== 422)
    .filter((exchange) => !mayBeRefused(evidence, exchange))
    .map((exchange) => ({
      broken: "another body under a taken key was not refused",
      facts: factsOf(exchange),
    }));

/** No connection, a gateway that is stopping, or a key that was revoked, paused or expired. */
function mayBeRefused(evidence: Evidence, exchange: Exchange): boolean {
  const { status, endedAtMs, sentAtMs, ending } = exchange;
  if (ending === "left") return true;
  if (status === 429) return evidence.limited(exchange);
  if (status === 401) return evidence.mayBeShut(exchange);
  const { downs, pauses } = evidence.found.history;
  return (status === null || status === 503) && touches([...downs, ...pauses], sentAtMs, endedAtMs);
}

// Who may spend: revocations, pauses and expiries of keys and closed routes take effect on the next request, and a
// key passes its limit by at most the one request that crosses it.
import { DAY_MS } from "../../src/domain/durations.ts";
import { type Check, errorCode, factsOf, type Violation } from "../evidence.ts";
import type { KeyFacts } from "../history.ts";
import type { Period } from "../plan.ts";
import type { RequestRow } from "../store.ts";

export const shutKeys: Check = ({ found }) =>
  [...found.history.keys.values()].flatMap((key) => {
    const exchanges = found.history.exchanges.filter(({ request }) => request.key === key.plan);
    const rows = found.rows.filter(({ keyId }) => keyId === key.keyId);
    return shutFor(key).flatMap(({ what, fromMs, toMs }): Violation[] => [
      ...exchanges
        .filter(({ sentAtMs, endedAtMs }) => sentAtMs > fromMs && endedAtMs < toMs)
        .filter(({ status }) => status !== 401 && status !== null && status !== 503)
        .map((exchange) => ({
          broken: `a key that was ${what} was served`,
          facts: { ...factsOf(exchange), fromMs, toMs },
        })),
      ...rows
        .filter(({ admittedAtMs }) => admittedAtMs > fromMs && admittedAtMs < toMs)
        .map((row) => ({
          broken: `a request of a key that was ${what} was admitted`,
          facts: { row, fromMs, toMs },
        })),
    ]);
  });

interface Shut {
  what: "revoked" | "expired" | "paused";
  fromMs: number;
  toMs: number;
}

/** The spans in which a key certainly served nobody. */
function shutFor({ revoked, expiresAtMs, pauses }: KeyFacts): Shut[] {
  const shut = (what: Shut["what"], fromMs: number | null | undefined, toMs: number | null): Shut[] =>
    fromMs === null || fromMs === undefined ? [] : [{ what, fromMs, toMs: toMs ?? Number.POSITIVE_INFINITY }];
  return [
    ...shut("revoked", revoked?.ackedMs, null),
    ...shut("expired", expiresAtMs, null),
    ...pauses.flatMap(({ closedMs, openingMs }) => shut("paused", closedMs, openingMs)),
  ];
}

export const closures: Check = ({ found }) =>
  found.history.closings.flatMap(({ what, closedMs, openingMs }) => {
    if (closedMs === null) return [];
    const admitted = found.rows.filter(
      ({ model, admittedAtMs }) =>
        model === what && admittedAtMs > closedMs && admittedAtMs < (openingMs ?? Number.POSITIVE_INFINITY),
    );
    return admitted.map((row) => ({
      broken:
        "a request was admitted while the routes of its model were closed, or nobody was entitled to it",
      facts: { row, closedMs, openingMs },
    }));
  });

/** A release serves until it expires or a newer one is published, and never after that. */
export const releases: Check = ({ found }) =>
  found.rows.flatMap((row) => {
    const { admittedAtMs } = row;
    const frozen = found.history.releases.find(({ digest }) => digest === row.releaseDigest);
    if (frozen === undefined) return [];
    const successor = found.history.releases.find(
      ({ route, version, ackedMs }) =>
        route === frozen.route && version > frozen.version && ackedMs !== null && ackedMs < admittedAtMs,
    );
    const facts = { row, frozen, successor: successor ?? null };
    if (admittedAtMs >= frozen.expiresAtMs)
      return [{ broken: "admitted on a release that had expired", facts }];
    return successor === undefined ? [] : [{ broken: "admitted on a release that had a successor", facts }];
  });

/**
 * Replays the admissions and settlements of each limited key, for each of its periods, in the order of their
 * transactions.
 */
export const limits: Check = ({ found }) =>
  [...found.history.keys.values()].flatMap((key) => {
    const highest = highestLimit(key);
    if (highest === null) return [];
    const rows = found.rows.filter(({ keyId }) => keyId === key.keyId);
    const periods = Map.groupBy(rows, ({ admittedAtMs }) => BEGUN[key.period](admittedAtMs));
    return [...periods.values()]
      .flatMap((admitted) => passed(admitted, highest))
      .map((facts) => ({
        broken: "a key passed its limit by more than the request that crossed it",
        facts: { ...facts, key: key.keyId, period: key.period, limits: key.limits },
      }));
  });

/** The start of the period that an instant is in, UTC; a week begins on Monday. */
const BEGUN: Readonly<Record<Period, (ms: number) => number>> = {
  day: (ms) => ms - (ms % DAY_MS),
  week: (ms) => ms - (ms % DAY_MS) - ((new Date(ms).getUTCDay() + 6) % 7) * DAY_MS,
  month: (ms) => new Date(ms).setUTCDate(1) - (ms % DAY_MS),
};

/** The highest limit that was ever in force; null if there was none for a while. */
function highestLimit({ limits }: KeyFacts): bigint | null {
  let highest = 0n;
  for (const limit of limits) {
    if (limit === null) return null;
    if (limit > highest) highest = limit;
  }
  return highest;
}

function passed(rows: RequestRow[], limit: bigint): Record<string, unknown>[] {
  const opened = Map.groupBy(rows, ({ openedTxn }) => openedTxn);
  const closed = Map.groupBy(rows, ({ closedTxn }) => closedTxn);
  const transactions = [...new Set([...opened.keys(), ...closed.keys()])].filter((txn) => txn !== null);
  const found: Record<string, unknown>[] = [];
  let used = 0n; // spent and held
  for (const txn of transactions.sort((a, b) => a - b)) {
    for (const { hold, charge } of closed.get(txn) ?? []) used += charge - hold;
    // One transaction may admit several: the order most favourable to the gateway has the largest hold last.
    const holds = (opened.get(txn) ?? []).map(({ hold }) => hold).sort((a, b) => (a < b ? -1 : 1));
    for (const hold of holds) {
      if (used >= limit)
        found.push({ txn, used, limit, requests: opened.get(txn)?.map(({ requestId }) => requestId) });
      used += hold;
    }
  }
  return found;
}

/** 401, 402 and 403 need a reason in the books, too. */
export const refusals: Check = (evidence) =>
  evidence.found.history.exchanges.flatMap((exchange) => {
    const key = evidence.key(exchange);
    const kind = evidence.found.plan.customers[key.customer]?.kind;
    const code = errorCode(exchange);
    const wrong = (broken: string): Violation[] => [{ broken, facts: factsOf(exchange) }];
    if (exchange.status === 401 && !evidence.mayBeShut(exchange)) return wrong("a good key was refused");
    if (code === "insufficient_credits" && kind !== "poor" && kind !== "flooder")
      return wrong("credits that cover the request were refused");
    if (code === "key_spend_limit_reached" && kind !== "limited")
      return wrong("a key without a limit was refused for it");
    return [];
  });

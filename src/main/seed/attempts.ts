// The provider calls of a seeded request: the one that served, and those abandoned before it.
import type { Release } from "../../domain/release.ts";
import type { AttemptRecord } from "../../ledger/records.ts";
import type { Chance } from "./chance.ts";
import type { SeededRequest } from "./traffic.ts";

const LEFT_AFTER_MS = 140;
/** By how many tokens a provider overreports. */
const TOLD_BEYOND = 37;

interface Left {
  status: number;
  errorClass: string;
  words: string;
}

const LEFT: readonly (readonly [Left, number])[] = [
  [{ status: 429, errorClass: "rate_limited", words: "Too many requests, slow down." }, 3],
  [{ status: 503, errorClass: "unavailable", words: "The model is overloaded. Try again later." }, 4],
];

/** The calls in order, and the release that priced the last one. */
export function attemptsOf(
  chance: Chance,
  request: SeededRequest,
  { serving, admittedAtMs }: { serving: readonly Release[]; admittedAtMs: number },
): { attempts: AttemptRecord[]; served: Release } {
  const [first, second] = serving;
  if (first === undefined) throw new Error("admitted without a route");
  const startedAtMs = admittedAtMs + 2;
  if (request.ending === "failed") {
    const attempts = serving.map((release, at) =>
      left(chance, release, { n: at + 1, startedAtMs: startedAtMs + at * LEFT_AFTER_MS }),
    );
    return { attempts, served: first };
  }
  if (request.failover && second !== undefined) {
    const attempts = [
      left(chance, first, { n: 1, startedAtMs }),
      last(chance, second, { request, n: 2, startedAtMs: startedAtMs + LEFT_AFTER_MS }),
    ];
    return { attempts, served: second };
  }
  return { attempts: [last(chance, first, { request, n: 1, startedAtMs })], served: first };
}

const left = (
  chance: Chance,
  { route, provider }: Release,
  at: { n: number; startedAtMs: number },
): AttemptRecord => {
  const { status, errorClass, words } = chance.weighted(LEFT);
  return {
    ...at,
    route,
    provider,
    durationMs: chance.whole(30, LEFT_AFTER_MS),
    outcome: "not_executed",
    upstreamId: null,
    upstreamStatus: status,
    errorClass,
    words,
  };
};

function last(
  chance: Chance,
  { route, provider }: Release,
  { request, n, startedAtMs }: { request: SeededRequest; n: number; startedAtMs: number },
): AttemptRecord {
  const { ending, totalMs, usage, outputMax } = request;
  const silent = ending === "timed_out" || ending === "lost";
  const record: AttemptRecord = {
    n,
    route,
    provider,
    startedAtMs,
    durationMs: Math.max(1, totalMs - 4),
    outcome: silent ? "unknown" : "answered",
    upstreamId: silent ? null : `up-${chance.base62(20)}`,
    upstreamStatus: silent ? null : 200,
    errorClass: silent ? "timeout" : null,
  };
  if (ending !== "beyond") return record;
  usage.completionTokens = outputMax;
  const { reasoningTokens: _, ...counts } = usage;
  const told = { ...counts, completionTokens: outputMax + TOLD_BEYOND };
  return { ...record, doubts: ["usage_clamped"], told };
}

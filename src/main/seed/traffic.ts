// Plans which requests come when: by the hour and weekday of each key, with realistic lengths, waits and
// failures. Pure, so that their cost is known before the first is played.
import { HOUR_MS } from "../../domain/durations.ts";
import { exactPrice } from "../../domain/price.ts";
import type { RefusalCode } from "../../domain/refusals.ts";
import { ZERO_USD, addUsd, nanoUsd, type NanoUsd } from "../../domain/money.ts";
import type { TokenUsage } from "../../ledger/records.ts";
import { chargeOf } from "../../pricing/charge.ts";
import { CAST, type SeededKey, type SeededOrganization } from "./cast.ts";
import { SEEDED_MODELS, type SeededModel } from "./catalogue.ts";
import { Chance } from "./chance.ts";

/** How long a job that got out of hand has been running. */
const SURGE_MS = 7 * HOUR_MS;

/** From the first request to now, in milliseconds since the epoch. */
export interface SeededTime {
  fromMs: number;
  toMs: number;
}

/** The instant at this fraction of the span. */
export const instantAt = ({ fromMs, toMs }: SeededTime, share: number): number =>
  Math.floor(fromMs + (toMs - fromMs) * share);

/**
 * How an admitted request ends. `cut`: its caller left. `failed`: no provider answered. `lost`: its gateway
 * died. `beyond`: the provider reported more than was quoted.
 */
type SeededEnding = "answered" | "cut" | "failed" | "timed_out" | "lost" | "beyond";

/** One planned request with its whole outcome. Counts are tokens, `…Ms` milliseconds. */
export interface SeededRequest {
  atMs: number;
  organization: SeededOrganization;
  key: SeededKey;
  model: SeededModel;
  stream: boolean;
  keyed: boolean;
  /** Sent again after this time, to be answered by a replay; null for most. */
  repeatedAfterMs: number | null;
  /** Refused with this code before it is priced; null for those that reach the ledger. */
  refusedEarly: RefusalCode | null;
  promptBound: number;
  counted: boolean;
  outputMax: number;
  usage: TokenUsage;
  ending: SeededEnding;
  /** The first route was unavailable, and the second one was called. */
  failover: boolean;
  firstPartMs: number;
  totalMs: number;
}

/** All requests, in chronological order. */
export function planTraffic(span: SeededTime, requests: number, seed: number): SeededRequest[] {
  const shares = CAST.flatMap(({ keys }) => keys).reduce((sum, { share }) => sum + share, 0);
  let sharesSoFar = 0;
  const shareOut = (share: number): number => {
    const before = Math.round((requests * sharesSoFar) / shares);
    sharesSoFar += share;
    return Math.round((requests * sharesSoFar) / shares) - before;
  };
  const planned = CAST.flatMap((organization, at) =>
    organization.keys.flatMap((key, place) => {
      const chance = new Chance(seed * 1009 + at * 101 + place);
      const count = shareOut(key.share);
      const hours = hoursOf(span, key);
      return Array.from({ length: count }, () => {
        const surged = key.surge !== undefined && chance.of(key.surge);
        const atMs = surged ? span.toMs - chance.whole(1, SURGE_MS) : anInstant(chance, span, hours);
        return planOne(chance, { organization, key, atMs });
      });
    }),
  );
  return planned.toSorted((a, b) => a.atMs - b.atMs);
}

/** What all requests would cost, by key: an estimate for sizing credits and limits. */
export function expectedSpend(planned: readonly SeededRequest[]): Map<SeededKey, NanoUsd> {
  const spend = new Map<SeededKey, NanoUsd>();
  for (const { key, model, usage, refusedEarly } of planned) {
    if (refusedEarly !== null) continue;
    const price = exactPrice(model.pricing);
    const { charge } = chargeOf({ usage, price, hold: nanoUsd(1n << 62n), evidence: "provider_usage" });
    spend.set(key, addUsd(spend.get(key) ?? ZERO_USD, charge));
  }
  return spend;
}

function anInstant(chance: Chance, { fromMs, toMs }: SeededTime, hours: readonly [number, number][]): number {
  const hourMs = chance.weighted(hours);
  return chance.whole(Math.max(hourMs, fromMs), Math.min(hourMs + HOUR_MS, toMs) - 1);
}

/** Each hour of the span in which the key is used, with its weight. */
function hoursOf({ fromMs, toMs }: SeededTime, { hours, revokedAt }: SeededKey): [number, number][] {
  const list: [number, number][] = [];
  const untilMs = revokedAt === undefined ? toMs : instantAt({ fromMs, toMs }, revokedAt + 0.01);
  for (let atMs = Math.floor(fromMs / HOUR_MS) * HOUR_MS; atMs < untilMs; atMs += HOUR_MS) {
    const date = new Date(atMs);
    const weekend = date.getUTCDay() === 0 || date.getUTCDay() === 6;
    const growth = 0.8 + (0.4 * (atMs - fromMs)) / (toMs - fromMs);
    const shape = HOURLY[hours](date.getUTCHours(), weekend);
    list.push([atMs, Math.max(0.001, shape * growth)]);
  }
  return list;
}

/** How busy an hour of the day is. */
const HOURLY: Record<SeededKey["hours"], (hour: number, weekend: boolean) => number> = {
  office: (hour, weekend) =>
    (weekend ? 0.06 : 1) * bump(hour, 10, 2.6) + (weekend ? 0.03 : 0.9) * bump(hour, 15, 2.4),
  round: (hour, weekend) => (weekend ? 0.7 : 1) * (0.35 + bump(hour, 14, 5)),
  night: (hour) => 0.02 + 3 * bump(hour, 2, 1.1),
};

const bump = (hour: number, peak: number, width: number): number => {
  const away = Math.min(Math.abs(hour - peak), 24 - Math.abs(hour - peak));
  return Math.exp(-(away * away) / (2 * width * width));
};

const EARLY: readonly (readonly [RefusalCode | null, number])[] = [
  [null, 0.974],
  ["rate_limit_exceeded", 0.008],
  ["model_not_found", 0.005],
  ["invalid_request", 0.005],
  ["unsupported_parameter", 0.003],
  ["context_length_exceeded", 0.004],
  ["overloaded", 0.001],
];

const ENDINGS: readonly (readonly [SeededEnding, number])[] = [
  ["answered", 0.957],
  ["cut", 0.02],
  ["failed", 0.014],
  ["timed_out", 0.005],
  ["lost", 0.0015],
  ["beyond", 0.0025],
];

const REPEATED = 0.09;
const FAILED_OVER = 0.03;
const MOST_REPEATED_AFTER_MS = 20 * 60_000;

function planOne(
  chance: Chance,
  { organization, key, atMs }: Pick<SeededRequest, "organization" | "key" | "atMs">,
): SeededRequest {
  const name = chance.weighted(key.models);
  const model = SEEDED_MODELS.find((one) => one.model === name);
  if (model === undefined) throw new Error(`${name} is not in the catalogue`);
  const lengths = lengthsOf(chance, key, model);
  const keyed = chance.of(key.keyed);
  const ending = chance.weighted(ENDINGS);
  const firstPartMs = Math.round(chance.around(model.firstTokenMs, 0.35)) + 20;
  const writing =
    (lengths.usage.completionTokens / (model.tokensPerSecond * (0.7 + 0.6 * chance.next()))) * 1000;
  return {
    atMs,
    organization,
    key,
    model,
    stream: chance.of(key.streamed),
    keyed,
    repeatedAfterMs:
      keyed && ending === "answered" && chance.of(REPEATED)
        ? chance.whole(2000, MOST_REPEATED_AFTER_MS)
        : null,
    refusedEarly: chance.weighted(EARLY),
    ...lengths,
    ending,
    failover: model.routes.length > 1 && chance.of(FAILED_OVER),
    firstPartMs,
    totalMs: ending === "timed_out" ? 60_000 + firstPartMs : firstPartMs + Math.round(writing),
  };
}

type Lengths = Pick<SeededRequest, "promptBound" | "counted" | "outputMax" | "usage">;

function lengthsOf(chance: Chance, key: SeededKey, model: SeededModel): Lengths {
  const most = Math.floor(model.context_window * 0.7);
  const promptTokens = Math.min(most, Math.max(12, Math.round(chance.around(key.promptTokens, 0.7))));
  const counted = chance.of(0.6);
  // An uncounted prompt is bounded by its bytes.
  const promptBound = Math.min(most, Math.ceil(promptTokens * (counted ? 1.02 : 2.6 + chance.next())) + 24);
  const embeds = model.capabilities?.embeddings === true;
  if (embeds)
    return { promptBound, counted, outputMax: 0, usage: used({ promptTokens, completionTokens: 0 }) };
  const ceilings = [512, 1024, 2048, model.default_output_tokens ?? 1024] as const;
  const outputMax = Math.max(64, chance.weighted(ceilings.map((ceiling) => [ceiling, 1] as const)));
  const completionTokens = Math.min(outputMax, Math.max(1, Math.round(chance.around(key.outputTokens, 0.6))));
  const usage = used({ promptTokens, completionTokens });
  if (chance.of(key.cached)) usage.cachedTokens = Math.floor(promptTokens * (0.5 + 0.45 * chance.next()));
  else if (model.pricing.cache_write_per_million !== undefined && chance.of(0.4))
    usage.cacheWriteTokens = Math.floor(promptTokens * 0.8);
  if (model.reasoning !== undefined && model.reasoning.default !== "none")
    usage.reasoningTokens = Math.floor(completionTokens * (0.2 + 0.5 * chance.next()));
  return { promptBound, counted, outputMax, usage };
}

const used = (totals: Pick<TokenUsage, "promptTokens" | "completionTokens">): TokenUsage => ({
  ...totals,
  cachedTokens: 0,
  reasoningTokens: 0,
});

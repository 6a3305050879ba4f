// What needs attention on the overview, with a link: each entry contains the text that finds its target on
// its page.
import { DAY_MS, HOUR_MS } from "../domain/durations.ts";
import type { AlertRuleJson } from "../api/shapes/alerts.ts";
import type { AutoTopUpJson } from "../api/shapes/billing.ts";
import type * as overviewShapes from "../api/shapes/overview.ts";
import type { z } from "zod";
import type { AlertKind } from "../domain/alert-kinds.ts";
import { counted } from "../domain/counted.ts";
import { addUsd, type NanoUsd, parseUsd, ZERO_USD } from "../domain/money.ts";
import { printMinute } from "../domain/print.ts";
import { preciseUsd, shortUsd } from "../domain/short-usd.ts";
import type { Reader } from "../ledger/ledger.ts";
import { stoppedSince } from "../ledger/stops.ts";
import { LIMIT_NAMES, type LimitedSpan } from "../ledger/key-spans.ts";
import type { KeyRecord } from "../registry/api-keys.ts";
import { activeEntitlements } from "../registry/entitlements.ts";
import { CREDIT_DAYS_MIN } from "./credit-pace.ts";
import { limitStanding } from "./key-limit.ts";
import { whyStale } from "./stale-words.ts";

type Overview = z.output<typeof overviewShapes.overview>;
type Warning = Overview["attention"][number];

export interface AttentionPorts {
  ledger: Reader;
  paymentService: { autoTopUp(org: string): Promise<AutoTopUpJson> };
  alertService: { rules(org: string): Promise<{ data: AlertRuleJson[] }> };
}

const ENTITLEMENT_SOON_MS = 7 * DAY_MS;
const RELEASE_SOON_MS = 48 * HOUR_MS;

interface Figures {
  routes: Overview["routes"];
  keys: readonly KeyRecord[];
  available: NanoUsd;
  debt: NanoUsd;
  /** Per day. */
  burn: NanoUsd;
  spentToday: NanoUsd;
  nowMs: number;
}

/** Each entry includes its figures. */
export async function attentionOf(
  on: AttentionPorts,
  organizationId: string,
  figures: Figures,
): Promise<Overview["attention"]> {
  const { nowMs } = figures;
  const entitlements = await activeEntitlements(on.ledger, organizationId);
  const { last_failure: failure } = await on.paymentService.autoTopUp(organizationId);
  const { data: rules } = await on.alertService.rules(organizationId);
  return [
    ...ofStop(await stoppedSince(on.ledger, organizationId)),
    ...ofCredits(figures),
    ...ofKeys(figures.keys),
    ...entitlements.flatMap(({ id, model, expiresAtMs }): Warning[] =>
      expiresAtMs === null || expiresAtMs - nowMs >= ENTITLEMENT_SOON_MS
        ? []
        : [
            {
              kind: "entitlement_ends",
              target: id,
              search: model,
              text: `The entitlement for ${model} ends in ${inHours(expiresAtMs - nowMs)}, on ${printMinute(expiresAtMs)}.`,
            },
          ],
    ),
    ...figures.routes.flatMap((route) => ofRoute(route, nowMs)),
    ...(failure === null
      ? []
      : [
          {
            kind: "top_up_failed" as const,
            target: failure.order,
            search: null,
            text: `The last automatic top-up failed, on ${printMinute(Date.parse(failure.at))}: ${failure.reason}`,
          },
        ]),
    ...rules.flatMap((rule): Warning[] =>
      rule.on && rule.firing && !SAID_ABOVE.has(rule.kind)
        ? [{ kind: "alert_holds", target: rule.id, search: null, text: holds(rule, figures) }]
        : [],
    ),
  ];
}

const ofStop = (sinceMs: number | null): Warning[] =>
  sinceMs === null
    ? []
    : [
        {
          kind: "stopped",
          target: null,
          search: null,
          text: `This organization's credits do not match its records. Since ${printMinute(sinceMs)} its paid requests are refused; they are served again once the operator has fixed this.`,
        },
      ];

function ofCredits({ debt, burn, available }: Figures): Warning[] {
  const bare = { target: null, search: null };
  if (debt > 0n)
    return [{ kind: "debt", ...bare, text: `A debt of ${shortUsd(debt)} stops every request. Add credits.` }];
  if (burn === 0n || available >= burn * CREDIT_DAYS_MIN) return [];
  const text = `${shortUsd(available)} of credits are left: ${inHours(hoursAt(available, burn))} at ${shortUsd(burn)} a day, the pace of the last 7 days.`;
  return [{ kind: "low_balance", ...bare, text }];
}

/** How long an amount lasts at this daily rate: milliseconds, in whole hours. */
const hoursAt = (amount: NanoUsd, aDay: NanoUsd): number => Number((amount * 24n) / aDay) * HOUR_MS;

/**
 * Each of a thousand keys may be at its limit: the first of each standing are listed one by one, the worst
 * standing first.
 */
const KEYS_TOLD = 20;
const WORST_FIRST = ["reached", "held", "near"] as const;

function ofKeys(keys: readonly KeyRecord[]): Warning[] {
  const found = keys.flatMap((key) => {
    const standing = limitStanding(key);
    return standing === null ? [] : [{ key, ...standing }];
  });
  const told = new Set(
    WORST_FIRST.flatMap((standing) => found.filter((one) => one.standing === standing)).slice(0, KEYS_TOLD),
  );
  const others = found.length - told.size;
  return [
    ...found.filter((one) => told.has(one)).map(ofKey),
    ...(others === 0
      ? []
      : [{ kind: "key_near_limit" as const, target: null, search: null, text: moreKeys(others) }]),
  ];
}

const moreKeys = (keys: number): string =>
  keys === 1 ? "One more key is at or near a limit." : `${keys} more keys are at or near a limit.`;

function ofKey({
  key,
  standing,
  span,
}: { key: KeyRecord } & NonNullable<ReturnType<typeof limitStanding>>): Warning {
  const [kind, sentence] = OF_LIMIT[standing];
  return { kind, target: key.id, search: key.id, text: sentence(key.name, span) };
}

type Sentence = (name: string, span: LimitedSpan) => string;
const OF_LIMIT: Record<"reached" | "held" | "near", [Warning["kind"], Sentence]> = {
  reached: [
    "key_at_limit",
    (name, { period, limit, spent, resetsAtMs }) =>
      `${name} has reached its ${LIMIT_NAMES[period]} limit: ${shortUsd(spent)} of its ${shortUsd(limit)} is spent. It works again from ${printMinute(resetsAtMs)}, or with a higher limit.`,
  ],
  held: [
    "key_blocked_by_holds",
    (name, { period, limit, spent, held }) =>
      `${name} is blocked by ${shortUsd(held)} of running holds: ${shortUsd(spent)} of its ${LIMIT_NAMES[period]} ${shortUsd(limit)} is spent. Raise the limit, or wait until they end.`,
  ],
  near: [
    "key_near_limit",
    (name, { period, limit, spent, held }) =>
      `${name} is at ${((spent + held) * 100n) / limit} % of its ${LIMIT_NAMES[period]} limit: ${shortUsd(addUsd(spent, held))} of its ${shortUsd(limit)} is spent or held.`,
  ],
};

function ofRoute(
  { route, model, state, reason, expires_at }: Overview["routes"][number],
  nowMs: number,
): Warning[] {
  const expiresAtMs = expires_at === null ? null : Date.parse(expires_at);
  const of = { target: route, search: model };
  if (state === "live")
    return expiresAtMs !== null && expiresAtMs - nowMs < RELEASE_SOON_MS
      ? [
          {
            kind: "release_ends",
            ...of,
            text: `The release of ${route} ends in ${inHours(expiresAtMs - nowMs)}, on ${printMinute(expiresAtMs)}: without a newer one, ${model} is no longer served on it.`,
          },
        ]
      : [];
  const why = state === "stale" ? whyStale(reason, expiresAtMs) : reason;
  return [
    {
      kind: "route_closed",
      ...of,
      text: `${route} is ${state}${why === null ? "" : `: ${why}`}. ${model} is not served on it.`,
    },
  ];
}

/** Whole days from two days on, whole hours below. */
function inHours(ms: number): string {
  const hours = Math.max(0, Math.floor(ms / HOUR_MS));
  if (hours < 1) return "less than an hour";
  return hours >= 48 ? counted(Math.floor(hours / 24), "day") : `${hours} h`;
}

/** The overview itself says more about these. */
const SAID_ABOVE = new Set<AlertKind>(["auto_top_up_failed", "route_not_live", "key_limit"]);
const amountOf = ({ amount_usd }: AlertRuleJson): string =>
  preciseUsd(parseUsd(amount_usd ?? "0") ?? ZERO_USD);
/** A rule with a damaged kind still counts. */
const holds = (rule: AlertRuleJson, figures: Figures): string =>
  Object.hasOwn(HOLDS, rule.kind) ? HOLDS[rule.kind](rule, figures) : "An alert is firing.";
const HOLDS: Record<AlertKind, (rule: AlertRuleJson, figures: Figures) => string> = {
  balance_below: (rule, { available }) =>
    `An alert is firing: the balance is below ${amountOf(rule)}; ${preciseUsd(available)} is available.`,
  days_left_below: ({ days }, { available, burn }) =>
    `An alert is firing: credits last less than ${counted(days ?? 0, "day")}; ${shortUsd(available)} is available, at ${shortUsd(burn)} a day.`,
  key_limit: ({ percent }) => `An alert is firing: a key is at ${percent} % of its limit.`,
  spend_per_day: (rule, { spentToday }) =>
    `An alert is firing: today's spend is above ${amountOf(rule)}; it is ${preciseUsd(spentToday)}.`,
  error_rate: ({ percent }) => `An alert is firing: at least ${percent} % of requests fail.`,
  route_not_live: () => "An alert is firing: a route is not live.",
  auto_top_up_failed: () => "An alert is firing: the automatic top-up failed.",
};

// The organizations of a seeded store: their keys, credits, alert rules and entitlements, and what happens to
// them later.
import { DAY_MS } from "../../domain/durations.ts";
import type { Actor } from "../../domain/actor.ts";
import type { Credential } from "../../domain/credential.ts";
import { addUsd, formatUsd, NANO_PER_USD, type NanoUsd, nanoUsd, ZERO_USD } from "../../domain/money.ts";
import { OF_ITSELF } from "../../domain/actor.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { newId } from "../../lib/id.ts";
import type { AlertService } from "../../operator/alerts.ts";
import { keys } from "../../operator/keys.ts";
import type { DriverName } from "../../payments/order.ts";
import type { Payments } from "../../payments/payments.ts";
import { creditOrder } from "../../payments/receive.ts";
import type { Person } from "../../people/people.ts";
import { approveEntitlement, requestEntitlement } from "../../registry/entitlements.ts";
import { parseKey } from "../../registry/secret.ts";
import type { Sql } from "../../store/sql.ts";
import type { SeededKey, SeededOrganization } from "./cast.ts";
import type { Chance } from "./chance.ts";
import type { MovingClock } from "./moving-clock.ts";
import type { Timeline } from "./timeline.ts";
import { instantAt, type SeededTime } from "./traffic.ts";

export interface Founding {
  ledger: Ledger;
  sql: Sql;
  payments: Payments;
  alerts: AlertService;
  driver: DriverName;
  clock: MovingClock;
  timeline: Timeline;
  span: SeededTime;
  chance: Chance;
  actorOf: (person: Pick<Person, "id">) => Actor;
  /** Two: a requester does not approve. */
  operators: readonly Person[];
  /** What each key would spend without limits. */
  expected: ReadonlyMap<SeededKey, NanoUsd>;
}

export interface Founded {
  organizationId: string;
  members: ReadonlyMap<string, Person>;
}

/** A round figure as people choose it, at least this amount and a cent. */
function roundUpUsd(amount: NanoUsd): NanoUsd {
  for (let unit = NANO_PER_USD / 100n; ; unit *= 10n)
    for (const tenths of [10n, 12n, 15n, 20n, 25n, 30n, 40n, 50n, 60n, 80n]) {
      const candidate = nanoUsd((unit * tenths) / 10n);
      if (candidate >= amount) return candidate;
    }
}

const part = (amount: NanoUsd, share: number): NanoUsd =>
  nanoUsd((amount * BigInt(Math.round(share * 1000))) / 1000n);

const expectedOf = (on: Founding, of: SeededOrganization): NanoUsd =>
  of.keys.reduce((sum, key) => addUsd(sum, on.expected.get(key) ?? ZERO_USD), ZERO_USD);

/** Creates keys with their secrets; later revocations are put on the timeline. */
export async function makeKeys(
  on: Founding,
  { organizationId, members }: Founded,
  of: SeededOrganization,
): Promise<Map<SeededKey, { credential: Credential; secret: string }>> {
  const made = new Map<SeededKey, { credential: Credential; secret: string }>();
  const book = keys(on.ledger);
  for (const key of of.keys) {
    const { name, scope = "standard", limit, revokedAt } = key;
    const actor = actorNamed(on, members, key.by);
    const most = limit === undefined ? null : roundUpUsd(part(on.expected.get(key) ?? ZERO_USD, limit));
    const limit_usd = most === null ? null : formatUsd(most);
    const { id, secret } = await book.create({ org: organizationId, name, scope, limit_usd }, actor);
    const credential = parseKey(secret);
    if (credential === null) throw new Error("a key that was just created is not a valid key");
    made.set(key, { credential, secret });
    if (revokedAt !== undefined)
      on.timeline.add(instantAt(on.span, revokedAt), async () => void (await book.revoke(id, actor)));
  }
  return made;
}

/** Plans credits, paid or granted, at the times in the cast. */
export function planCredits(
  on: Founding,
  { organizationId, members }: Founded,
  of: SeededOrganization,
): void {
  const spend = expectedOf(on, of);
  const buyer =
    of.people.find(({ role }) => role === "billing" || role === "owner")?.email.split("@")[0] ?? "";
  const [operator] = on.operators;
  for (const [at, { kind, part: share, at: when, automatic }] of of.credits.entries()) {
    const amount = roundUpUsd(part(spend, share));
    on.timeline.add(instantAt(on.span, when), async () => {
      if (kind === "grant" && operator !== undefined) {
        const externalId = `welcome-${on.chance.base62(6)}`;
        await on.ledger.topUp(
          { organizationId, amount, kind, source: "operator", externalId },
          on.actorOf(operator),
        );
        return;
      }
      const createdBy = members.get(buyer)?.id ?? "";
      const purpose = automatic === true ? "auto_top_up" : "checkout";
      await buy(on, { organizationId, amount, createdBy, purpose, formKey: `seed-${at}` });
    });
  }
}

async function buy(
  { payments: { orders }, ledger, driver, clock, chance }: Founding,
  wanted: Omit<Parameters<Payments["orders"]["take"]>[0], "driver">,
): Promise<void> {
  const taken = await orders.take({ ...wanted, driver }, clock.nowMs());
  if (taken === null) throw new Error("an order was not taken");
  const sessionId = `cs_seed_${chance.base62(24)}`;
  await orders.opened(taken.order.id, { sessionId, url: null });
  clock.moveTo(clock.nowMs() + chance.whole(20_000, 90_000));
  const paid = { sessionId, paymentId: `pi_seed_${chance.base62(24)}`, from: OF_ITSELF };
  await creditOrder({ orders, till: ledger, nowMs: () => clock.nowMs() }, taken.order, paid);
}

/** Rules as somebody would set them; the alerts room finds what crosses them. */
export async function setRules(
  on: Founding,
  { organizationId, members }: Founded,
  of: SeededOrganization,
): Promise<void> {
  const owner = actorNamed(on, members, of.people[0]?.email.split("@")[0] ?? "");
  const spend = expectedOf(on, of);
  const days = Math.max(1, (on.span.toMs - on.span.fromMs) / DAY_MS);
  const none = { amount_usd: null, percent: null, days: null, key: null, channels: [], on: true };
  const low = formatUsd(roundUpUsd(part(spend, 0.08)));
  const daily = formatUsd(roundUpUsd(part(spend, 2 / days)));
  await on.alerts.addRule(organizationId, { ...none, kind: "balance_below", amount_usd: low }, owner);
  await on.alerts.addRule(organizationId, { ...none, kind: "key_limit", percent: 90 }, owner);
  await on.alerts.addRule(organizationId, { ...none, kind: "spend_per_day", amount_usd: daily }, owner);
  await on.alerts.addRule(organizationId, { ...none, kind: "error_rate", percent: 10 }, owner);
  await on.alerts.addRule(organizationId, { ...none, kind: "route_not_live" }, owner);
}

const RESEARCH_MODEL = "kimi-k3-research";

/** One entitlement for each research key, approved by an operator, and one undecided request. */
export async function entitle(
  on: Founding,
  { organizationId, members }: Founded,
  of: SeededOrganization,
): Promise<void> {
  const [operator] = on.operators;
  const [member] = members.values();
  if (operator === undefined || member === undefined) return;
  const ask = async (actor: Actor, project: string, purpose: string): Promise<string> => {
    const id = newId("ent");
    const wish = { purpose, wantedUntilMs: null };
    await requestEntitlement(on.ledger, { id, organizationId, model: RESEARCH_MODEL, project, wish }, actor);
    return id;
  };
  for (const key of of.keys.filter(({ scope }) => scope === "research")) {
    const id = await ask(
      actorNamed(on, members, key.by),
      "Long documents",
      "Compare answers over whole archives",
    );
    const approval = { expiresAtMs: on.span.toMs + 6 * DAY_MS, note: "until the review" };
    await approveEntitlement(on.ledger, id, approval, on.actorOf(operator));
  }
  on.timeline.add(instantAt(on.span, 0.9), async () => {
    await ask(on.actorOf(member), "Second opinion", "Check answers against a stronger model");
  });
}

/** Refunds half of the organization's newest charge, as after a complaint. */
export async function refundOne(
  { ledger, sql, actorOf, operators, chance }: Founding,
  organizationId: string,
): Promise<void> {
  const [row] = await sql.rows(
    `SELECT request_id, charge FROM request WHERE org_id = ?1 AND state = 'settled' AND charge > 1000
     ORDER BY request_id DESC LIMIT 1`,
    organizationId,
  );
  const [operator] = operators;
  if (row === undefined || operator === undefined) return;
  const amount = nanoUsd(BigInt(String(row["charge"])) / 2n);
  const externalId = `complaint-${chance.base62(6)}`;
  const target = String(row["request_id"]);
  await ledger.reverse(
    { organizationId, amount, kind: "refund", target, source: "operator", externalId },
    actorOf(operator),
  );
}

function actorNamed(on: Founding, members: Founded["members"], name: string): Actor {
  const person = members.get(name);
  if (person === undefined) throw new Error(`${name} is in nobody's cast`);
  return on.actorOf(person);
}

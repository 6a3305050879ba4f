// Evaluates all enabled rules and writes one message per crossing, outside of any request: it reads what the
// ledger has written, the figures of many organizations together and each figure once per round.
import { DAY_MS } from "../domain/durations.ts";
import { printTime } from "../domain/print.ts";
import type { Reading, Rule } from "./alert.ts";
import type { Crossings } from "./crossings.ts";
import type { Outbox } from "./outbox.ts";
import { type Figures, readingsOf } from "./readings.ts";
import type { RuleBook } from "./rule-book.ts";

export interface WatchPorts {
  rules: RuleBook;
  crossings: Crossings;
  outbox: Pick<Outbox, "messagesSince">;
  /** Starts one look: figures requested at the same time, for any organization, are read together. */
  look(): (organizationId: string) => Figures;
  nowMs(): number;
}

/** The number of organizations evaluated together. */
const TOGETHER = 100;

/**
 * The most messages for an organization within a day, over all channels. Rules times keys times channels are
 * many: crossings beyond it are reported when there is room again, if they still hold.
 */
export const MESSAGES_A_DAY = 1_000;

/** Runs one round. A rule that fails does not delay the others. */
export async function watchRules(on: WatchPorts, failed: (error: unknown) => void): Promise<void> {
  const organizations = [
    ...Map.groupBy(await on.rules.enabled(failed), ({ organizationId }) => organizationId),
  ];
  for (let from = 0; from < organizations.length; from += TOGETHER) {
    const some = new Map(organizations.slice(from, from + TOGETHER));
    await watchSome(on, some, toldOnce(failed)).catch(failed);
  }
}

/** Reports an error shared by many readers once. */
function toldOnce(failed: (error: unknown) => void): (error: unknown) => void {
  const told = new Set<unknown>();
  return (error) => {
    if (told.has(error)) return;
    told.add(error);
    failed(error);
  };
}

async function watchSome(
  on: WatchPorts,
  organizations: ReadonlyMap<string, readonly Rule[]>,
  failed: (error: unknown) => void,
): Promise<void> {
  // Read before any figure: whatever other gateways report or clear after this, they based on newer figures.
  const firing = await on.crossings.firing([...organizations.keys()]);
  const figuresOf = on.look();
  const looked = [...organizations].flatMap(([organizationId, rules]) => {
    const figures = onceEach(figuresOf(organizationId));
    return rules.map((rule) => ({ rule, readings: readingsOf(rule, figures) }));
  });
  await Promise.allSettled(looked.map(({ readings }) => readings));
  const budgets = new Map<string, Budget>();
  for (const { rule, readings } of looked) {
    const { organizationId, id } = rule;
    const written = (): Promise<number> => on.outbox.messagesSince(organizationId, on.nowMs() - DAY_MS);
    const budget = budgets.get(organizationId) ?? new Budget(written);
    budgets.set(organizationId, budget);
    const of = { rule, firing: firing.get(id) ?? new Map<string, string>(), budget };
    await readings.then((found) => tell(on, found, of)).catch(failed);
  }
}

/** The number of messages an organization may still get today; read only when something has crossed. */
class Budget {
  private left: number | null = null;

  constructor(private readonly written: () => Promise<number>) {}

  /** False if there is no room for this many messages. */
  async take(messages: number): Promise<boolean> {
    this.left ??= MESSAGES_A_DAY - (await this.written());
    if (this.left < messages) return false;
    this.left -= messages;
    return true;
  }
}

async function tell(
  on: WatchPorts,
  readings: readonly Reading[],
  { rule: read, firing, budget }: { rule: Rule; firing: Map<string, string>; budget: Budget },
): Promise<void> {
  let rule = read;
  for (const { subject, standing, text, facts } of readings) {
    if (standing === "crossed" && !firing.has(subject) && (await budget.take(1 + rule.channels.length))) {
      const nowMs = on.nowMs();
      const message = {
        organizationId: rule.organizationId,
        ruleId: rule.id,
        kind: rule.kind,
        text,
        payload: payloadOf({ kind: rule.kind, rule, text, facts, nowMs }),
      };
      const fired = await on.crossings.crossed(rule, subject, message, nowMs);
      // Edited, or reported by another gateway in the meantime: the next round evaluates it again.
      if (fired === null) return;
      rule = fired;
    }
    if (standing !== "clear") firing.delete(subject);
  }
  // Clears what no longer holds and subjects that are no longer reported: yesterday, last month, a revoked
  // key.
  for (const crossingId of firing.values()) await on.crossings.cleared(crossingId);
}

/** The body of a message, as documented in docs/alerts.md. It contains figures, never content. */
export function payloadOf(message: {
  kind: string;
  rule: Pick<Rule, "id" | "organizationId"> | { id: null; organizationId: string };
  text: string;
  facts: Record<string, unknown>;
  nowMs: number;
}): (deliveryId: string) => string {
  const { kind, rule, text, facts, nowMs } = message;
  return (deliveryId) =>
    JSON.stringify({
      type: `alert.${kind}`,
      id: deliveryId,
      timestamp: printTime(nowMs),
      data: { organization: rule.organizationId, rule: rule.id, text, ...facts },
    });
}

/** Requests each figure once, at one instant, however many rules read it. */
function onceEach(figures: Figures): Figures {
  const nowMs = figures.nowMs();
  const kept = new Map<string, Promise<unknown>>();
  const once = <T>(name: string, ask: () => Promise<T>): Promise<T> => {
    const known = kept.get(name) ?? ask();
    kept.set(name, known);
    return known as Promise<T>;
  };
  return {
    nowMs: () => nowMs,
    spentSince: (sinceMs) => once(`spent since ${sinceMs}`, () => figures.spentSince(sinceMs)),
    outcomesSince: (sinceMs) => once(`outcomes since ${sinceMs}`, () => figures.outcomesSince(sinceMs)),
    balance: () => once("balance", () => figures.balance()),
    keys: () => once("keys", () => figures.keys()),
    routes: () => once("routes", () => figures.routes()),
    topUpFailure: () => once("top_up", () => figures.topUpFailure()),
  };
}

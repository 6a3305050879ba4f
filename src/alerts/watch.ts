// Goes round all rules that are on and writes one message per crossing. Away from every request: it reads what the
// ledger has written, the figures of many organizations together and each of them once per round.
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
  /** One look: those who ask for a figure at once, of whichever organization, are answered together. */
  look(): (organizationId: string) => Figures;
  nowMs(): number;
}

/** Organizations that are looked at together. */
const TOGETHER = 100;

/**
 * Messages of an organization within a day, those of every channel counted. Rules times keys times channels are many: what
 * crosses beyond it is told when there is room again, if it still stands.
 */
export const MESSAGES_A_DAY = 1_000;

/** One round. A rule that fails does not keep the others waiting. */
export async function watchRules(on: WatchPorts, failed: (error: unknown) => void): Promise<void> {
  const organizations = [
    ...Map.groupBy(await on.rules.enabled(failed), ({ organizationId }) => organizationId),
  ];
  for (let from = 0; from < organizations.length; from += TOGETHER) {
    const some = new Map(organizations.slice(from, from + TOGETHER));
    await watchSome(on, some, toldOnce(failed)).catch(failed);
  }
}

/** What failed for many at once is one failure. */
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
  // Before any figure: what others tell or clear from here on, they saw later than this round.
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

/** What an organization may still be told today; read only when something has crossed. */
class Budget {
  private left: number | null = null;

  constructor(private readonly written: () => Promise<number>) {}

  /** False when there is no room for so many messages. */
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
      // Edited, or told of by another gateway meanwhile: the next round looks at it anew.
      if (fired === null) return;
      rule = fired;
    }
    if (standing !== "clear") firing.delete(subject);
  }
  // What is clear, and what is no longer spoken of: yesterday, last month, a key that was revoked.
  for (const crossingId of firing.values()) await on.crossings.cleared(crossingId);
}

/** The body of a message, as docs/alerts.md shows it. It carries figures, never content. */
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

/** Each figure is asked for once, at one time, however many rules look at it. */
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

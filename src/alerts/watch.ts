// Goes round all rules that are on and writes one message per crossing. Away from every request: it reads what the
// ledger has written, and the figures of one organization are read once per round.
import type { Rule } from "./alert.ts";
import type { Outbox } from "./outbox.ts";
import { type Figures, readingsOf } from "./readings.ts";
import type { RuleBook } from "./rule-book.ts";

export interface WatchPorts {
  rules: RuleBook;
  outbox: Outbox;
  figuresOf(organizationId: string): Figures;
  nowMs(): number;
}

/** One round. A rule that fails does not keep the others waiting. */
export async function watchRules(on: WatchPorts, failed: (error: unknown) => void): Promise<void> {
  const byOrganization = Map.groupBy(await on.rules.enabled(), ({ organizationId }) => organizationId);
  for (const [organizationId, rules] of byOrganization) {
    const figures = onceEach(on.figuresOf(organizationId));
    for (const rule of rules) await watchRule(on, rule, figures).catch(failed);
  }
}

async function watchRule(on: WatchPorts, rule: Rule, figures: Figures): Promise<void> {
  const readings = await readingsOf(rule, figures);
  const firing = new Set(await on.outbox.firing(rule.id));
  for (const { subject, standing, text, facts } of readings) {
    if (standing === "crossed" && !firing.has(subject)) {
      const nowMs = on.nowMs();
      const message = {
        organizationId: rule.organizationId,
        ruleId: rule.id,
        kind: rule.kind,
        text,
        payload: payloadOf({ kind: rule.kind, rule, text, facts, nowMs }),
      };
      await on.outbox.crossed(rule, subject, message, nowMs);
    }
    if (standing !== "clear") firing.delete(subject);
  }
  // What is clear, and what is no longer spoken of: yesterday, last month, a key that was revoked.
  for (const subject of firing) await on.outbox.cleared(rule, subject);
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
      timestamp: new Date(nowMs).toISOString(),
      data: { organization: rule.organizationId, rule: rule.id, text, ...facts },
    });
}

/** Figures without parameters are asked for once. */
function onceEach(figures: Figures): Figures {
  const kept = new Map<string, Promise<unknown>>();
  const once = <T>(name: string, ask: () => Promise<T>): Promise<T> => {
    const known = kept.get(name) ?? ask();
    kept.set(name, known);
    return known as Promise<T>;
  };
  return {
    ...figures,
    balance: () => once("balance", () => figures.balance()),
    keys: () => once("keys", () => figures.keys()),
    routes: () => once("routes", () => figures.routes()),
    topUpFailure: () => once("top_up", () => figures.topUpFailure()),
  };
}

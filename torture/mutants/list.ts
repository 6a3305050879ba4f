// Bugs that gateways like this one have had (money.md §12 names some of them), each as a patch to the current source.
import * as mixes from "./mixes.ts";
import type { Mutant } from "./mutant.ts";

export const MUTANTS: readonly Mutant[] = [
  {
    name: "no-credits-guard",
    bug: "requests are admitted without looking at the balance",
    edits: [
      {
        file: "src/ledger/decide/admission.ts",
        find: "if (available >= required && debt === 0n) return null;",
        replace: "if (available >= required || debt >= 0n) return null;",
      },
    ],
    mix: mixes.bursts,
    seconds: 4,
  },
  {
    name: "no-limit-guard",
    bug: "a key's spend limit is never looked at",
    edits: [
      {
        file: "src/ledger/decide/key-limits.ts",
        find: "const reached = reachedOf(spans);",
        replace: "const reached = reachedOf(spans.filter(({ limit }) => limit < 0n));",
      },
    ],
    mix: mixes.bursts,
    seconds: 6,
  },
  {
    name: "limit-without-holds",
    bug: "a key's limit counts what was spent, but not what is held by requests that run",
    edits: [
      {
        file: "src/ledger/key-spans.ts",
        find: "({ limit, spent, held }: LimitedSpan): boolean => addUsd(spent, held) >= limit",
        replace: "({ limit, spent }: LimitedSpan): boolean => spent >= limit",
      },
    ],
    mix: mixes.bursts,
    seconds: 6,
  },
  {
    name: "days-without-holds",
    bug: "a key's limits of the day and the week count what was spent, but not what is held by requests that run",
    edits: [
      {
        file: "src/ledger/key-spans.ts",
        find: "let sum = held;",
        replace: "let sum = subUsd(held, held);",
      },
    ],
    mix: mixes.bursts,
    seconds: 6,
  },
  {
    name: "messages-count-twice",
    bug: "a message's usage counts what was read from a cache twice, beside a right charge",
    edits: [
      {
        file: "src/gateway/formats/messages/message-usage.ts",
        find: "input_tokens: Math.max(0, promptTokens - read - written),",
        replace: "input_tokens: promptTokens,",
      },
    ],
    mix: mixes.messages,
    seconds: 4,
  },
  {
    name: "messages-unrecognized",
    bug: "a stream of Messages whose gateway died is ended in the words of no surface",
    edits: [
      {
        file: "src/gateway/formats/messages/messages.ts",
        find: "/^id: 1\\nevent: (?:message_start|error)\\n/.test(sent)",
        replace: 'sent.startsWith("data: ")',
      },
    ],
    mix: mixes.cutsElsewhere,
    seconds: 8,
  },
  {
    name: "pauses-unseen",
    bug: "a pause is written, and nobody looks at it",
    edits: [
      {
        file: "src/ledger/decide/key.ts",
        find: 'return pausedAtMs === null ? "active" : "paused";',
        replace: 'return "active";',
      },
    ],
    mix: mixes.pauses,
    seconds: 4,
  },
  {
    name: "ends-unseen",
    bug: "a key whose time is over is served until a job has ended it",
    edits: [
      {
        file: "src/ledger/decide/key.ts",
        find: 'if (expiresAtMs !== null && nowMs >= expiresAtMs) return "expired";',
        replace: 'if (expiresAtMs !== null && nowMs >= expiresAtMs + 30_000) return "expired";',
      },
    ],
    mix: mixes.pauses,
    seconds: 4,
  },
  {
    name: "keys-cached",
    bug: "a key that was good is taken for good for another minute",
    edits: [
      {
        file: "src/ledger/decide/key.ts",
        find: "const state = keyState(key, nowMs);",
        replace: `const seen: Map<string, number> = ((globalThis as { seen?: Map<string, number> }).seen ??= new Map());
  const now = keyState(key, nowMs);
  if (now === "active") seen.set(credential.keyId, Date.now());
  const state = Date.now() - (seen.get(credential.keyId) ?? 0) > 60_000 ? now : "active";`,
      },
    ],
    mix: mixes.revocations,
    seconds: 4,
  },
  {
    name: "claims-not-unique",
    bug: "every request with an idempotency key is a new one",
    edits: [
      {
        file: "src/ledger/decide/claim.ts",
        find: 'if (taken === undefined) return { kind: "free" };',
        replace: 'if (taken === undefined || taken.requestId !== "") return { kind: "free" };',
      },
    ],
    mix: mixes.retries,
    seconds: 4,
  },
  {
    name: "unknown-is-free",
    bug: "a request whose gateway died is dispatched again on its retry",
    edits: [
      {
        file: "src/ledger/decide/claim.ts",
        find: 'if (taken.state === "dispatched") return',
        replace: `if (taken.state === "released" && taken.answerUntilMs === null) return { kind: "free" };
  if (taken.state === "dispatched") return`,
      },
    ],
    mix: mixes.kills,
    seconds: 8,
  },
  {
    name: "orphans-left",
    bug: "what a dead process held stays held",
    edits: [
      {
        file: "src/ledger/orphans.ts",
        find: "if (news.length + again.length === 0) return;",
        replace: "if (news.length + again.length >= 0) return;",
      },
    ],
    mix: mixes.kills,
    seconds: 4,
  },
  {
    name: "nothing-kept-of-a-cut-stream",
    bug: "a stream that a crash cuts is free, however much of it was delivered",
    edits: [
      {
        file: "src/gateway/progress-log.ts",
        find: "if (checkpoint === null || !this.followed.has(followed)) return;",
        replace: "if (checkpoint !== undefined) return;",
      },
    ],
    mix: mixes.cuts,
    seconds: 10,
  },
  {
    name: "settles-after-the-last-byte",
    bug: "the last byte goes out half a second before the charge is durable",
    edits: [
      {
        file: "src/gateway/hold.ts",
        find: `    this.take();
    const { organizationId, requestId } = this.admitted;
    this.told = {
      ...settlement,`,
        replace: `    this.take();
    const { organizationId, requestId } = this.admitted;
    setTimeout(() => void this.later(settlement), 500);
    return true;
  }

  private async later(settlement: Omit<Settlement, "organizationId" | "requestId" | "attempts">): Promise<boolean> {
    const { organizationId, requestId } = this.admitted;
    this.told = {
      ...settlement,`,
      },
    ],
    mix: mixes.kills,
    seconds: 8,
  },
  {
    name: "refund-on-a-settling-error",
    bug: "a settlement that the store did not take at once is refunded instead of tried again",
    edits: [
      {
        file: "src/ledger/commit/operations.ts",
        find: 'kind === "settle" || kind === "void";',
        replace: 'kind === "void";',
      },
      {
        file: "src/gateway/hold.ts",
        find: "    const outcome = await this.ledger.settle(this.told);",
        replace: `    const outcome = await this.ledger
      .settle({ ...settlement, organizationId, requestId, attempts: this.attempts })
      .catch(() =>
        this.ledger.void({
          ...{ organizationId, requestId, attempts: this.attempts, status: 500, totalMs: 0 },
          ...{ errorCode: "settling_failed", freeClaim: true, answer: null },
        }),
      );`,
      },
    ],
    mix: mixes.locks,
    seconds: 14,
  },
  {
    name: "charge-above-the-hold",
    bug: "a provider that reports more tokens than were quoted is passed on to the customer",
    edits: [
      {
        file: "src/pricing/charge.ts",
        find: "const charge = minUsd(due, hold);",
        replace: "const charge = told === null ? minUsd(due, hold) : dueFor(worthOf(told, price), price);",
      },
    ],
    mix: mixes.faults,
    seconds: 4,
  },
  {
    name: "failover-without-proof",
    bug: "the next route is tried although the provider may have run the first call",
    edits: [
      {
        file: "src/gateway/dispatch.ts",
        find: 'if (last.executed !== "no" || CALLERS_OWN.has(last.reason)) return last;',
        replace: "if (CALLERS_OWN.has(last.reason)) return last;",
      },
    ],
    mix: mixes.faults,
    seconds: 5,
  },
  {
    name: "leaving-is-free",
    bug: "a client that goes away before the end pays nothing for what it got",
    edits: [
      {
        file: "src/gateway/bill.ts",
        find: "if (completion === 0 && (arrived.failed || arrived.refused)) return NOTHING;",
        replace: "if (arrived.failed || (completion === 0 && arrived.refused)) return NOTHING;",
      },
    ],
    mix: mixes.leavings,
    seconds: 5,
  },
  {
    name: "top-up-twice",
    bug: "a payment that is reported again is credited again",
    edits: [
      {
        file: "src/ledger/decide/top-up.ts",
        find: "if (earlier !== undefined) {",
        replace: "if (earlier !== undefined && earlier.amount !== amount) {",
      },
      {
        file: "src/ledger/sqlite/write.ts",
        find: "`INSERT INTO ${into}",
        replace: "`INSERT OR IGNORE INTO ${into}",
      },
    ],
    mix: mixes.topUps,
    seconds: 4,
  },
  {
    name: "minimum-forgotten",
    bug: "small requests are charged less than the minimum, in the books and in their audit alike",
    edits: [
      {
        file: "src/pricing/charge.ts",
        find: "minUsd(maxUsd(worth, requestMinimum), MAX_NANO_USD);",
        replace: "minUsd(worth, MAX_NANO_USD);",
      },
    ],
    mix: mixes.retries,
    seconds: 4,
  },
  {
    name: "entitlement-forgotten",
    bug: "nobody asks whether an organization is still entitled to Research Mode",
    edits: [
      {
        file: "src/ledger/decide/admission.ts",
        find: 'if (asked.plan.tier !== "research") return null;',
        replace: "if (asked.atMs >= 0) return null;",
      },
    ],
    mix: mixes.research,
    seconds: 5,
  },
  {
    name: "usage-believed",
    bug: "whatever figures a provider reports go into the books",
    edits: [
      {
        file: "src/gateway/bill.ts",
        find: "const { usage, told, clamped } = believedUsage(claimed.usage, {",
        replace: `const { usage, told, clamped } = believedUsage(claimed.usage, {
    promptTokensMax: 2 ** 53, outputTokensMax: 2 ** 53, windowTokens: 2 ** 53 });
  believedUsage(claimed.usage, {`,
      },
    ],
    mix: mixes.nonsense,
    seconds: 4,
  },
  {
    name: "one-record-stops-all",
    bug: "one record that does not open ends the gateway that meets it",
    edits: [
      {
        file: "src/ledger/orphans.ts",
        find: "if (store.isStoreFailure(error)) throw error;",
        replace: "if (store.isStoreFailure(error) || unowned.requestId !== '') throw error;",
      },
    ],
    mix: mixes.rotting,
    seconds: 10,
  },
  {
    name: "what-runs-is-not-counted",
    bug: "a key starts requests without looking at how many of its own run, those that were left included",
    edits: [
      {
        file: "src/ledger/decide/rate.ts",
        find: "row.running += 1;",
        replace: "row.running += 0;",
      },
    ],
    mix: mixes.crowds,
    seconds: 6,
  },
  {
    name: "one-queue-for-all-counts",
    bug: "what was delivered waits to be counted behind the prompts of whoever cannot pay for them",
    edits: [
      {
        file: "src/pricing/tokens.ts",
        find: "const admitted = new TokenCounter();",
        replace: "const admitted = admitting;",
      },
    ],
    mix: mixes.topUps,
    seconds: 3,
    fairness: true,
  },
  {
    name: "balances-not-locked",
    bug: "two gateways decide on the same balance at once",
    store: "postgres",
    edits: [
      {
        file: "src/ledger/postgres/readings.ts",
        find: 'balances("FOR UPDATE",',
        replace: 'balances("",',
      },
    ],
    mix: mixes.bursts,
    seconds: 6,
  },
  {
    name: "limits-of-each-gateway",
    bug: "each gateway counts for itself what a key took in a minute",
    store: "postgres",
    edits: [
      {
        file: "src/ledger/postgres/load-rates.ts",
        find: "for (const cells of answers.flat()) put(this.rows, cells);",
        replace: `for (const cells of answers.flat()) put(this.rows, cells);
        const kept = ((globalThis as { kept?: Map<string, object> }).kept ??= new Map<string, object>());
        for (const [id, row] of this.rows.rateLimits) {
          if (!kept.has(id)) kept.set(id, row);
          this.rows.rateLimits.set(id, kept.get(id) as typeof row);
        }`,
      },
    ],
    mix: mixes.bursts,
    seconds: 8,
  },
  {
    name: "doubt-is-failure",
    bug: "a commit whose answer was lost is taken for failed, and run again",
    store: "postgres",
    edits: [
      {
        file: "src/ledger/commit/group-commit.ts",
        find: 'if (trace === "yes") return this.tell(batch, about.outcomes);',
        replace: "",
      },
    ],
    mix: mixes.lostAnswers,
    seconds: 10,
  },
];

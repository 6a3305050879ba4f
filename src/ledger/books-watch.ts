// Checks the books of all organizations every minute and stops the paid calls of those whose books do not add up (money.md §5).
// Whether an organization is stopped is a lookup in memory; the store passes it on to every gateway and to the next start.
import { MINUTE_MS } from "../domain/durations.ts";
import type { Repeating } from "../lib/every.ts";
import type { Jobs } from "../lib/jobs.ts";
import type { Pulse } from "./commit/pulse.ts";
import type { Ledger, Transactions } from "./ledger.ts";
import { letGo, readStops, resume, stands, stillStopped, type Stop, stop, type Violations } from "./stops.ts";
import type { BooksQuestion, BooksReport } from "./verify/books.ts";
import { CHAIN_BEGIN, type ChainBase } from "./verify/chain.ts";
import { oneAtATime } from "./verify/one-at-a-time.ts";

export interface BooksWatchPorts {
  on: Transactions;
  /** Reads one snapshot of the store in its own thread. */
  look(books: BooksQuestion, ending: AbortSignal): Promise<BooksReport>;
  /** True if this gateway is the one of several that does the check. */
  leads(): Promise<boolean>;
  ready(): boolean;
  pulse: Pick<Pulse, "foundStopped">;
  jobs: Jobs;
  /** The interval between two checks in milliseconds; defaults to one minute. */
  everyMs?: number | undefined;
}

/** Slow checks run less often: checking takes at most one part in this many of the time. */
const SHARE = 10;

export class BooksWatch {
  private stopped: ReadonlySet<string> = new Set();
  /** Where this process's last check ended in each organization's chain. */
  private bases: ReadonlyMap<string, ChainBase> = new Map();
  /** Organizations whose whole chain the next check reads, because another verification found it broken. */
  private readonly suspects = new Set<string>();
  private readonly checking = oneAtATime(() => this.look());
  private repeating: Repeating | null = null;
  private readonly ending = new AbortController();

  constructor(private readonly ports: BooksWatchPorts) {}

  /** True if the organization's paid calls are refused. */
  readonly isStopped = (organizationId: string): boolean => this.stopped.has(organizationId);

  /** Loads the stops in the store, those found by other gateways included. Rejects if it cannot; what is known stays. */
  async refresh(): Promise<void> {
    const stops = (await readStops(this.ports.on)).filter(stands);
    this.stopped = new Set(stops.map(({ organizationId }) => organizationId));
    this.ports.pulse.foundStopped(stops.length);
  }

  /** Resolves once every organization with broken books is stopped and every one with sound books continues. */
  private check(suspects: readonly string[]): Promise<void> {
    for (const organizationId of suspects) this.suspects.add(organizationId);
    return this.checking();
  }

  /** The part of the ledger's interface that this class answers. */
  asked(): Pick<Ledger, "checkBooks" | "resume"> {
    return {
      checkBooks: (suspects) => this.check(suspects),
      resume: async (of, actor) => {
        const outcome = await resume(this.ports.on, { ...of, found: await this.brokenChain(of) }, actor);
        await this.refresh();
        return outcome;
      },
    };
  }

  /** Checks the organization's whole chain. */
  private async brokenChain({ organizationId }: { organizationId: string }): Promise<Violations> {
    const fixed = new Map([[organizationId, { base: CHAIN_BEGIN, stopped: true }]]);
    const { violations } = await this.ports.look({ bases: this.bases, fixed }, this.ending.signal);
    return violations.filter((one) => one.organizationId === organizationId);
  }

  begin(): void {
    const { ports } = this;
    const { everyMs = MINUTE_MS } = ports;
    this.repeating = ports.jobs.every("ledger_books", everyMs, async () => {
      if (!ports.ready()) return;
      const beganMs = performance.now();
      if (!(await ports.leads()))
        this.bases = new Map(); // would be out of date when this gateway checks again
      else
        await this.check([]).catch((error: unknown) => {
          if (!this.ending.signal.aborted) throw error;
        });
      return Math.max(everyMs, (performance.now() - beganMs) * (SHARE - 1));
    });
  }

  /** Also aborts a check in progress. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.repeating?.stop();
  }

  private async look(): Promise<void> {
    const { ports } = this;
    const { on } = ports;
    const stops = await readStops(on);
    const question = { bases: this.bases, fixed: this.fixedBy(stops) };
    const first = await ports.look(question, this.ending.signal);
    const found = byOrganization(first.violations);
    const known = new Map(stops.filter(stands).map((one) => [one.organizationId, one]));
    const isNew = [...found.keys()].some((organizationId) => !known.has(organizationId));
    // A paying customer is not stopped by a single check: real damage shows up in the next one, too.
    const again = isNew ? byOrganization((await ports.look(question, this.ending.signal)).violations) : found;
    this.bases = first.bases;
    for (const [organizationId, violations] of found) {
      const base = first.bases.get(organizationId) ?? CHAIN_BEGIN;
      if (!known.has(organizationId) && again.has(organizationId))
        await stop(on, { organizationId, violations, base });
    }
    for (const one of known.values()) {
      const violations = found.get(one.organizationId);
      if (!first.bases.has(one.organizationId)) continue; // without a balance there is nothing to check
      if (violations === undefined) await letGo(on, one.organizationId);
      else if (!same(violations, one.violations))
        await stillStopped(on, { organizationId: one.organizationId, violations });
    }
    await this.refresh();
  }

  private fixedBy(stops: readonly Stop[]): BooksQuestion["fixed"] {
    const fixed = new Map<string, { base: ChainBase; stopped: boolean }>();
    for (const one of stops)
      if (stands(one) || one.accepted)
        fixed.set(one.organizationId, { base: one.base, stopped: stands(one) });
    for (const organizationId of this.suspects)
      fixed.set(organizationId, { base: fixed.get(organizationId)?.base ?? CHAIN_BEGIN, stopped: true });
    this.suspects.clear();
    return fixed;
  }
}

function byOrganization(violations: Violations): Map<string, Violations> {
  const found = new Map<string, Violations>();
  for (const violation of violations) {
    const { organizationId } = violation;
    if (organizationId === null) continue;
    found.set(organizationId, [...(found.get(organizationId) ?? []), violation]);
  }
  return found;
}

const same = (some: Violations, others: Violations): boolean =>
  JSON.stringify(some) === JSON.stringify(others);

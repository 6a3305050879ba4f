// Looks at the books of all organizations every minute, and stops the paid calls of those whose books do not add up (money.md §5).
// Whether an organization is stopped is a look in memory; the store tells it to every gateway, and to the next start.
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
  /** One snapshot of the store, in a thread of its own. */
  look(books: BooksQuestion, ending: AbortSignal): Promise<BooksReport>;
  /** Whether this gateway does it, of several. */
  leads(): Promise<boolean>;
  ready(): boolean;
  pulse: Pick<Pulse, "foundStopped">;
  jobs: Jobs;
  /** Between two looks, milliseconds; a minute where this is left out. */
  everyMs?: number | undefined;
}

/** A look that takes long comes less often: at most this share of the time is spent with looking. */
const SHARE = 10;

export class BooksWatch {
  private stopped: ReadonlySet<string> = new Set();
  /** Where the last look of this process has left each organization. */
  private bases: ReadonlyMap<string, ChainBase> = new Map();
  /** Whose whole chain the next look reads: another verification found it broken. */
  private readonly suspects = new Set<string>();
  private readonly checking = oneAtATime(() => this.look());
  private repeating: Repeating | null = null;
  private readonly ending = new AbortController();

  constructor(private readonly ports: BooksWatchPorts) {}

  /** Whether its paid calls are refused. */
  readonly isStopped = (organizationId: string): boolean => this.stopped.has(organizationId);

  /** Takes over what the store remembers, which another gateway may have found. Rejects while it cannot be read: what is known stays. */
  async refresh(): Promise<void> {
    const stops = (await readStops(this.ports.on)).filter(stands);
    this.stopped = new Set(stops.map(({ organizationId }) => organizationId));
    this.ports.pulse.foundStopped(stops.length);
  }

  /** Resolves when whoever is to be stopped is stopped, and whose books hold goes on. */
  private check(suspects: readonly string[]): Promise<void> {
    for (const organizationId of suspects) this.suspects.add(organizationId);
    return this.checking();
  }

  /** What the ledger is asked about it. */
  asked(): Pick<Ledger, "checkBooks" | "resume"> {
    return {
      checkBooks: (suspects) => this.check(suspects),
      resume: async (of, actor) => {
        const outcome = await resume(this.ports.on, of, actor);
        await this.refresh();
        return outcome;
      },
    };
  }

  begin(): void {
    const { ports } = this;
    const { everyMs = MINUTE_MS } = ports;
    this.repeating = ports.jobs.every("ledger_books", everyMs, async () => {
      if (!ports.ready()) return;
      const beganMs = performance.now();
      if (!(await ports.leads()))
        this.bases = new Map(); // of another time, when this one looks again
      else
        await this.check([]).catch((error: unknown) => {
          if (!this.ending.signal.aborted) throw error;
        });
      return Math.max(everyMs, (performance.now() - beganMs) * (SHARE - 1));
    });
  }

  /** Ends a look that is under way, too. */
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
    // A paying customer is not stopped by one look: damage is there in the next one, too.
    const again = isNew ? byOrganization((await ports.look(question, this.ending.signal)).violations) : found;
    this.bases = first.bases;
    for (const [organizationId, violations] of found) {
      const base = first.bases.get(organizationId) ?? CHAIN_BEGIN;
      if (!known.has(organizationId) && again.has(organizationId))
        await stop(on, { organizationId, violations, base });
    }
    for (const one of known.values()) {
      const violations = found.get(one.organizationId);
      if (!first.bases.has(one.organizationId)) continue; // without a balance nothing holds
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

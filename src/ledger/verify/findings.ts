// What a verification has checked and found: counts and time per invariant, and every violation with both numbers (money.md
// §5). The time since the previous report is attributed to the invariant reported now: checks run one after the other.
import type { VerificationReport, Violation } from "../records.ts";

/** Above this many violations of one invariant, only the count continues. */
const SHOWN_PER_INVARIANT = 100;

/** A violation as a check reports it. */
export interface Finding {
  organizationId?: string | null;
  requestId?: string | null;
  expected: bigint | number | string;
  found: bigint | number | string;
}

/**
 * Collects findings for one report; a violation is reported by invariant, place and both numbers, never thrown.
 * Findings that an operator has accepted are listed apart and do not count towards the bound, so that any others are
 * still reported.
 */
export class Findings {
  private readonly checked: Record<string, number> = {};
  private readonly tookMs: Record<string, number> = {};
  private saidAtMs = performance.now();
  private readonly violations: Violation[] = [];
  private readonly shown = new Map<string, number>();
  private readonly accepted: Violation[] = [];
  private readonly known: ReadonlySet<string>;

  /** `accepted`: violations that an operator has accepted, each exactly as it was found then. */
  constructor(accepted: readonly Violation[]) {
    this.known = new Set(accepted.map(identityOf));
  }

  /** Records the number of rows an invariant was checked on. */
  checkedRows(invariant: string, rows: number): void {
    this.checked[invariant] = (this.checked[invariant] ?? 0) + rows;
    this.took(invariant);
  }

  /** Attributes the time up to now to this invariant. */
  took(invariant: string): void {
    const nowMs = performance.now();
    this.tookMs[invariant] = (this.tookMs[invariant] ?? 0) + nowMs - this.saidAtMs;
    this.saidAtMs = nowMs;
  }

  violated(invariant: string, { organizationId, requestId, expected, found }: Finding): void {
    const violation: Violation = {
      invariant,
      organizationId: organizationId ?? null,
      requestId: requestId ?? null,
      expected: String(expected),
      found: String(found),
    };
    if (this.known.has(identityOf(violation))) {
      this.accepted.push(violation);
      return;
    }
    const before = this.shown.get(invariant) ?? 0;
    this.shown.set(invariant, before + 1);
    if (before < SHOWN_PER_INVARIANT) this.violations.push(violation);
  }

  /** Counts one row and compares. */
  equal(invariant: string, about: Finding): void {
    this.checkedRows(invariant, 1);
    if (about.expected !== about.found) this.violated(invariant, about);
  }

  report(): VerificationReport {
    const { checked, tookMs, violations, accepted } = this;
    return { ok: violations.length === 0, checked, tookMs, violations, accepted };
  }
}

/** Returns the same text for the same violation: an accepted one is recognised by it. */
export const identityOf = ({ invariant, organizationId, requestId, expected, found }: Violation): string =>
  JSON.stringify([invariant, organizationId, requestId, expected, found]);

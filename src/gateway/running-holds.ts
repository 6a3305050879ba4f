// The running requests of this process whose prompt was only bounded by its bytes, by organization: holds that can be lowered if
// somebody would be refused because of them (docs/decisions/0022-running-holds-are-lowered.md).
import type { Ledger } from "../ledger/ledger.ts";
import { Roster } from "../lib/roster.ts";
import { type Admitted, type Candidate, Hold, type NoteResolved } from "./hold.ts";

interface OfOrganization {
  holds: Roster<Hold>;
  /** Incremented with each hold that is lowered. */
  lowerings: number;
}

/** Whether the prompt has fewer tokens by a count than by its bound: not where each byte is one. */
export const isCountable = ({ release }: Candidate): boolean => release.tokenizer !== "bytes";
const NOBODY = (): void => {};

/** Null, or nothing: of any. */
export interface Among {
  keyId?: string | null;
  model?: string | null;
}

/** Opens every hold of this process and tracks those that can still be lowered. */
export class RunningHolds {
  private readonly organizations = new Map<string, OfOrganization>();

  constructor(
    private readonly ledger: Pick<Ledger, "settle" | "void">,
    private readonly resolved: NoteResolved,
  ) {}

  /** The hold of a request that was just admitted; the caller owns it. */
  open(admitted: Admitted): Hold {
    const lowerable = !admitted.counted && admitted.candidates.some(isCountable);
    const hold = new Hold(admitted, this.ledger, lowerable ? this.ending : NOBODY, this.resolved);
    if (lowerable) this.ofOrganization(admitted.organizationId).holds.add(hold);
    return hold;
  }

  private readonly ending = (hold: Hold): void => {
    const { organizationId } = hold.admitted;
    const own = this.ofOrganization(organizationId);
    own.holds.delete(hold);
    if (own.holds.size === 0) this.organizations.delete(organizationId);
  };

  private ofOrganization(organizationId: string): OfOrganization {
    const known = this.organizations.get(organizationId);
    if (known !== undefined) return known;
    const own: OfOrganization = { holds: new Roster(), lowerings: 0 };
    this.organizations.set(organizationId, own);
    return own;
  }

  /** Holds of an organization, or of those the ones of a key, of a model, or of both. */
  of(organizationId: string, { keyId = null, model = null }: Among = {}): Hold[] {
    const holds = this.organizations.get(organizationId)?.holds.all() ?? [];
    return holds.filter(
      ({ lowerable, admitted }) =>
        lowerable &&
        (keyId ?? admitted.keyId) === admitted.keyId &&
        (model ?? admitted.request.model) === admitted.request.model,
    );
  }

  /** If the number differs from an earlier one, a hold was lowered since, or ended. */
  lowerings(organizationId: string): number {
    return this.organizations.get(organizationId)?.lowerings ?? -1;
  }

  lowered(organizationId: string): void {
    const own = this.organizations.get(organizationId);
    if (own !== undefined) own.lowerings += 1;
  }
}

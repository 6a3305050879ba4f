// The requests of this process that run on a hold whose prompt was only bounded by its bytes, by organization: what can be
// lowered when somebody would be refused because of them (docs/decisions/0022-running-holds-are-lowered.md).
import type { Ledger } from "../ledger/ledger.ts";
import { Roster } from "../lib/roster.ts";
import { type Admitted, type Candidate, Hold, type NoteResolved } from "./hold.ts";

interface OfOrganization {
  holds: Roster<Hold>;
  /** Rises with each hold that is lowered. */
  lowerings: number;
  /** Held in the store, and not opened here yet. */
  opening: number;
}

/** What stands between a durable hold and an open one takes a round trip. */
const OPENING_AT_MOST_MS = 200;
const LOOK_MS = 2;

const isCountable = ({ release }: Candidate): boolean => release.tokenizer !== "bytes";
const NOBODY = (): void => {};

export class RunningHolds {
  private readonly organizations = new Map<string, OfOrganization>();

  constructor(
    private readonly ledger: Pick<Ledger, "settle" | "void">,
    private readonly resolved: NoteResolved,
  ) {}

  /** The hold of a request that was just admitted; the one who asked owns it. */
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
    this.forgetIfEmpty(organizationId, own);
  };

  /** A hold is durable and will be opened; `openingEnded` says that it was, or will not be. */
  opening(organizationId: string): void {
    this.ofOrganization(organizationId).opening += 1;
  }

  openingEnded(organizationId: string): void {
    const own = this.ofOrganization(organizationId);
    own.opening -= 1;
    this.forgetIfEmpty(organizationId, own);
  }

  /** Waits a little for those that are being opened. */
  async opened(organizationId: string): Promise<void> {
    const untilMs = performance.now() + OPENING_AT_MOST_MS;
    while ((this.organizations.get(organizationId)?.opening ?? 0) > 0 && performance.now() < untilMs)
      await Bun.sleep(LOOK_MS);
  }

  private ofOrganization(organizationId: string): OfOrganization {
    const known = this.organizations.get(organizationId);
    if (known !== undefined) return known;
    const own: OfOrganization = { holds: new Roster(), lowerings: 0, opening: 0 };
    this.organizations.set(organizationId, own);
    return own;
  }

  private forgetIfEmpty(organizationId: string, own: OfOrganization): void {
    if (own.holds.size === 0 && own.opening === 0) this.organizations.delete(organizationId);
  }

  /** Of an organization, or of one of its keys. */
  of(organizationId: string, keyId: string | null): Hold[] {
    const holds = this.organizations.get(organizationId)?.holds.all() ?? [];
    return holds.filter(
      ({ lowerable, admitted }) => lowerable && (keyId ?? admitted.keyId) === admitted.keyId,
    );
  }

  /** Another number than before: something was lowered since, or ended. */
  lowerings(organizationId: string): number {
    return this.organizations.get(organizationId)?.lowerings ?? -1;
  }

  lowered(organizationId: string): void {
    const own = this.organizations.get(organizationId);
    if (own !== undefined) own.lowerings += 1;
  }
}

// What the dashboard reads beside the use-cases of `operator.ts`, as one port: `src/operator/desk` answers from the
// record that billing is made of. Ids passed admission; what does not exist is null.
/** One line of the append-only audit log (hardening.md S40). */
export interface AuditNote {
  actor: string;
  action: string;
  organizationId: string | null;
  target: string;
  before?: Record<string, unknown> | null;
  after?: Record<string, unknown> | null;
}

/** Who made which key, and what it cost this month. */
export interface KeyMaker {
  keyId: string;
  /** The actor of the audit log: a person's id, a management key's, or the gateway's own words. */
  maker: string | null;
  monthSpend: bigint;
  revoked: boolean;
}

export interface Desk {
  note(note: AuditNote): Promise<void>;
  keyMakers(organizationId: string): Promise<KeyMaker[]>;
  renameOrganization(organizationId: string, name: string, actor: string): Promise<void>;
}

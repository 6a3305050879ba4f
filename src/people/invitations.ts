// Invitations: a link with a token, for one address, used once, for seven days; a new one replaces the one before it.
// Only the token's digest is kept.
import { createHash, randomBytes } from "node:crypto";
import { OperatorRefusal } from "../contract/admin-refusals.ts";
import type { Invitation, People } from "../contract/people.ts";
import type { Role } from "../contract/roles.ts";
import type { InvitationRow } from "./schema.ts";
import type { SignIn } from "./sign-in.ts";
import type { PeopleStore } from "./store.ts";

const MODEL = "invitation";
const OPEN_MS = 7 * 86_400_000;
const OPERATORS = "operators";

export const digestOf = (token: string): string => createHash("sha256").update(token).digest("base64url");
export const newToken = (): string => randomBytes(32).toString("base64url");

type Kept = Pick<People, "invite" | "invitations" | "withdrawInvitation"> & {
  open(token: string): Promise<Invitation>;
  /** True for the one caller whose acceptance counts. */
  close(token: string): Promise<boolean>;
};

/** Of the open invitations of an address every one that has a newer one beside it. */
const REPLACED = `UPDATE invitation SET state = 'withdrawn'
  WHERE "organizationId" = ?1 AND email = ?2 AND state = 'open' AND "expiresAt" > ?3 AND EXISTS (
    SELECT 1 FROM invitation AS newer
    WHERE newer."organizationId" = ?1 AND newer.email = ?2 AND newer.state = 'open'
      AND (newer."createdAt", newer.id) > (invitation."createdAt", invitation.id))`;

interface Ports {
  records: SignIn["records"];
  store: Pick<PeopleStore, "change">;
}

export function invitations({ records, store }: Ports): Kept {
  const byId = (organizationId: string | null, id: string) => [
    { field: "id", value: id },
    { field: "organizationId", value: organizationId ?? OPERATORS },
  ];
  return {
    async invite({ organizationId, email, role, invitedBy }) {
      const token = newToken();
      const createdAt = Date.now();
      const row = await records.create<Record<string, unknown>, InvitationRow>({
        model: MODEL,
        data: {
          digest: digestOf(token),
          organizationId: organizationId ?? OPERATORS,
          email: email.toLowerCase(),
          role,
          invitedBy,
          createdAt,
          expiresAt: createdAt + OPEN_MS,
          state: "open",
        },
      });
      // An address that is invited again was not reached, or was meant to come as somebody else: one link is open.
      await store.change(REPLACED, row.organizationId ?? OPERATORS, row.email, createdAt);
      return { invitation: invitationOf(row), token };
    },
    async invitations(organizationId) {
      const where = [{ field: "organizationId", value: organizationId ?? OPERATORS }];
      const sortBy = { field: "createdAt", direction: "desc" as const };
      return (await records.findMany<InvitationRow>({ model: MODEL, where, sortBy, limit: 1000 })).map(
        invitationOf,
      );
    },
    async withdrawInvitation(organizationId, id) {
      const where = byId(organizationId, id);
      await records.updateMany({
        model: MODEL,
        where: [...where, { field: "state", value: "open" }],
        update: { state: "withdrawn" },
      });
      const row = await records.findOne<InvitationRow>({ model: MODEL, where });
      return row === null ? null : invitationOf(row);
    },
    async open(token) {
      const where = [{ field: "digest", value: digestOf(token) }];
      const row = await records.findOne<InvitationRow>({ model: MODEL, where });
      const invitation = row === null ? null : invitationOf(row);
      if (invitation?.state === "open") return invitation;
      throw new OperatorRefusal(
        "not_found",
        "This invitation is not open: it was used, withdrawn, replaced by a newer one, or is older than 7 days. Ask for a new one.",
        "token",
      );
    },
    async close(token) {
      const where = [
        { field: "digest", value: digestOf(token) },
        { field: "state", value: "open" },
      ];
      return (await records.updateMany({ model: MODEL, where, update: { state: "accepted" } })) === 1;
    },
  };
}

function invitationOf(row: InvitationRow): Invitation {
  const expiresAtMs = Number(row.expiresAt);
  const state = row.state as Invitation["state"];
  return {
    id: row.id,
    organizationId: row.organizationId === OPERATORS ? null : row.organizationId,
    email: row.email,
    role: row.role as Role,
    invitedBy: row.invitedBy,
    createdAtMs: Number(row.createdAt),
    expiresAtMs,
    state: state === "open" && expiresAtMs <= Date.now() ? "expired" : state,
  };
}

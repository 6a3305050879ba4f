// Invitations: a link with a token, for one address, used once, valid for seven days; a new one replaces the
// one before. Only the token's digest is stored. The sender must be allowed to give its role at the time it
// is accepted.
import { DAY_MS } from "../domain/durations.ts";
import { createHash, randomBytes } from "node:crypto";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import type { Invitation, MadeInvitation, People } from "./people.ts";
import type { Role } from "../domain/roles.ts";
import { mayInvite, OPERATORS } from "./authority.ts";
import { knownMs, knownTime } from "./known-time.ts";
import { alreadyMember, MEMBERS_MAX, tooManyMembers } from "./memberships.ts";
import type { InvitationRow } from "./schema.ts";
import type { SignIn } from "./sign-in.ts";
import type { PeopleStore } from "./store.ts";

const MODEL = "invitation";
const OPEN_MS = 7 * DAY_MS;
/** The most open invitations of one organization. */
const OPEN_MAX = 100;
/** Counts withdrawn, replaced and accepted ones, too. */
const A_DAY_MAX = 500;

/** The stored form of a token: SHA-256, as base64url. */
export const tokenDigest = (token: string): string => createHash("sha256").update(token).digest("base64url");
/** 256 random bits as base64url: 43 characters. */
export const newToken = (): string => randomBytes(32).toString("base64url");

type Kept = Pick<People, "invitationNamed" | "invitationsAfter" | "withdrawInvitation"> & {
  invite(invitation: Parameters<People["invite"]>[0]): Promise<Omit<MadeInvitation, "mailedToken">>;
  open(token: string): Promise<Invitation>;
  /** True for the one caller whose acceptance counts, while the sender may still give its role. */
  close(token: string): Promise<boolean>;
};

/** Withdraws each open invitation of an address that has a newer one by somebody who may make both. */
const REPLACED = `UPDATE invitation SET state = 'withdrawn'
  WHERE "organizationId" = ?1 AND email = ?2 AND state = 'open' AND "expiresAt" > ?3 AND EXISTS (
    SELECT 1 FROM invitation AS newer
    WHERE newer."organizationId" = ?1 AND newer.email = ?2 AND newer.state = 'open'
      AND (newer."createdAt", newer.id) > (invitation."createdAt", invitation.id)
      AND ${mayInvite('newer."invitedBy"')})`;

/** Open invitations of an address that the person ?4 may not make. */
const ABOVE = `SELECT role FROM invitation
  WHERE "organizationId" = ?1 AND email = ?2 AND state = 'open' AND "expiresAt" > ?3 AND NOT ${mayInvite("?4")}`;

/** The membership of the person with this address. */
const INSIDE = `SELECT membership.role FROM "user" AS person
  JOIN membership ON membership."personId" = person.id AND membership."organizationId" = ?1 WHERE person.email = ?2`;
/** Excludes the one that the new invitation replaces. */
const OPEN = `SELECT count(*) AS found FROM invitation
  WHERE "organizationId" = ?1 AND state = 'open' AND email <> ?2 AND "expiresAt" > ?3`;
const OF_THE_DAY = `SELECT count(*) AS found FROM invitation WHERE "organizationId" = ?1 AND "createdAt" > ?2`;
const TIMES = `SELECT count(*) AS found FROM invitation WHERE "organizationId" = ?1 AND email = ?2 AND "createdAt" > ?3`;
const MEMBERS = `SELECT count(*) AS found FROM membership WHERE "organizationId" = ?1`;
const OPERATING = `SELECT 1 FROM "user" AS person WHERE person.email = ?1 AND person.operator = TRUE`;

interface Ports {
  records: SignIn["records"];
  store: Pick<PeopleStore, "change" | "rows">;
}

/** Throws `OperatorRefusal` if the person may not be invited now. Tokens are found by their digests. */
export function invitations({ records, store }: Ports): Kept {
  const named = (organizationId: string | null, id: string): Promise<InvitationRow | null> => {
    const where = [
      { field: "id", value: id },
      { field: "organizationId", value: organizationId ?? OPERATORS },
    ];
    return records.findOne<InvitationRow>({ model: MODEL, where });
  };
  return {
    async invite({ organizationId, email: address, role, invitedBy }) {
      const email = address.toLowerCase();
      const createdAt = Date.now();
      await refuseInside(store, organizationId, email);
      await refuseMany(store, organizationId, { email, atMs: createdAt });
      const [above] = await store.rows(ABOVE, organizationId ?? OPERATORS, email, createdAt, invitedBy);
      if (above !== undefined) throw notYours("replace");
      const token = newToken();
      const row = await records.create<Record<string, unknown>, InvitationRow>({
        model: MODEL,
        data: {
          digest: tokenDigest(token),
          organizationId: organizationId ?? OPERATORS,
          email,
          role,
          invitedBy,
          createdAt,
          expiresAt: createdAt + OPEN_MS,
          state: "open",
        },
      });
      // An address is invited again because the link did not arrive or the role was wrong: only one link
      // stays open.
      await store.change(REPLACED, row.organizationId ?? OPERATORS, row.email, createdAt);
      const [times] = await store.rows(TIMES, organizationId ?? OPERATORS, email, createdAt - DAY_MS);
      return { invitation: invitationOf(row), token, timesToday: Number(times?.["found"]) };
    },
    async invitationsAfter(organizationId, { after, most, open }) {
      const asked = [organizationId ?? OPERATORS, after.atMs, after.id];
      const rows = open
        ? await store.rows(`${PAGE} ${STILL_OPEN} ${NEWEST_FIRST} LIMIT ${most}`, ...asked, Date.now())
        : await store.rows(`${PAGE} ${NEWEST_FIRST} LIMIT ${most}`, ...asked);
      return rows.map((row) => invitationOf(row as unknown as InvitationRow));
    },
    async invitationNamed(organizationId, id) {
      const row = await named(organizationId, id);
      return row === null ? null : invitationOf(row);
    },
    async withdrawInvitation(organizationId, id, by) {
      const withdrawn = await store.change(WITHDRAWN, id, organizationId ?? OPERATORS, by);
      const row = await named(organizationId, id);
      if (withdrawn === 0 && row?.state === "open") throw notYours("withdraw");
      return row === null ? null : invitationOf(row);
    },
    async open(token) {
      const where = [{ field: "digest", value: tokenDigest(token) }];
      const row = await records.findOne<InvitationRow>({ model: MODEL, where });
      const invitation = row === null ? null : invitationOf(row);
      if (invitation?.state !== "open") throw notOpen();
      const [backed] = await store.rows(BACKED, invitation.id);
      if (backed === undefined) throw notBacked();
      await refuseFull(store, invitation.organizationId);
      return invitation;
    },
    close: async (token) => (await store.change(TAKEN, tokenDigest(token), Date.now())) === 1,
  };
}

const MADE = knownTime('"createdAt"');
const PAGE = `SELECT * FROM invitation
  WHERE "organizationId" = ?1 AND (${MADE} < ?2 OR (${MADE} = ?2 AND id < ?3))`;
const STILL_OPEN = `AND state = 'open' AND "expiresAt" > ?4`;
const NEWEST_FIRST = `ORDER BY ${MADE} DESC, id DESC`;
/** The position of an invitation in the list, newest first. */
export const madePlace = ({ createdAtMs, id }: Invitation): { atMs: number; id: string } => ({
  atMs: knownMs(createdAtMs),
  id,
});

const WITHDRAWN = `UPDATE invitation SET state = 'withdrawn'
  WHERE id = ?1 AND "organizationId" = ?2 AND state = 'open' AND ${mayInvite("?3")}`;
const BACKED = `SELECT 1 FROM invitation WHERE id = ?1 AND ${mayInvite('invitation."invitedBy"')}`;
const TAKEN = `UPDATE invitation SET state = 'accepted'
  WHERE digest = ?1 AND state = 'open' AND "expiresAt" > ?2 AND ${mayInvite('invitation."invitedBy"')}`;

async function refuseInside(
  store: Pick<PeopleStore, "rows">,
  organizationId: string | null,
  email: string,
): Promise<void> {
  if (organizationId === null) {
    if ((await store.rows(OPERATING, email)).length > 0)
      throw new OperatorRefusal("conflict", "This person is already an operator.", "email");
    return;
  }
  const [member] = await store.rows(INSIDE, organizationId, email);
  if (member !== undefined) throw alreadyMember(member["role"] as Role, "email");
}

async function refuseMany(
  store: Pick<PeopleStore, "rows">,
  organizationId: string | null,
  { email, atMs }: { email: string; atMs: number },
): Promise<void> {
  const at = organizationId ?? OPERATORS;
  const count = async (text: string, ...values: (string | number)[]): Promise<number> =>
    Number((await store.rows(text, at, ...values))[0]?.["found"]);
  const refused = (message: string): OperatorRefusal => new OperatorRefusal("conflict", message, "email");
  if ((await count(OPEN, email, atMs)) >= OPEN_MAX)
    throw refused(
      `${OPEN_MAX} invitations are open, which is the maximum. Withdraw one that will not be used, then send this one.`,
    );
  if ((await count(OF_THE_DAY, atMs - DAY_MS)) >= A_DAY_MAX)
    throw refused(
      `${A_DAY_MAX} invitations were sent within a day, which is the maximum. Send this one tomorrow.`,
    );
  await refuseFull(store, organizationId);
}

/** Operators are not members of an organization. */
async function refuseFull(store: Pick<PeopleStore, "rows">, organizationId: string | null): Promise<void> {
  if (organizationId === null) return;
  const [row] = await store.rows(MEMBERS, organizationId);
  if (Number(row?.["found"]) >= MEMBERS_MAX) throw tooManyMembers();
}

export const notOpen = (): OperatorRefusal =>
  new OperatorRefusal(
    "not_found",
    "This invitation is no longer open: it was used, withdrawn or replaced by a newer one, or it is older than 7 days. Ask for a new one.",
    "token",
  );

const notBacked = (): OperatorRefusal =>
  new OperatorRefusal(
    "not_found",
    "The person who sent this invitation may no longer give this role. Ask someone on the team for a new one.",
    "token",
  );

const notYours = (act: "replace" | "withdraw"): OperatorRefusal =>
  new OperatorRefusal(
    "role_not_permitted",
    act === "replace"
      ? "This address has an open invitation to become an owner. Only an owner may replace it."
      : "Only an owner may withdraw an invitation to become an owner.",
    act === "replace" ? "email" : "invitation",
  );

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
    state: state === "open" && !(expiresAtMs > Date.now()) ? "expired" : state,
  };
}

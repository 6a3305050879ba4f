// Mails an invitation to the invited person: sent once, when its link is created, because nothing that opens
// it is stored. The inviter, who also sees the link, is told the outcome.
import { isMailAddress } from "../domain/mail-address.ts";
import { printMinute } from "../domain/print.ts";
import type { SendMail } from "../alerts/mail/message.ts";
import { beyondQuota, type MailOutcome } from "./mail-quota.ts";

/** The content of the mail; `link` contains the token that proves the address, and is not stored. */
export interface InvitationMail {
  id: string;
  to: string;
  link: string;
  /** Null for an invitation of an operator. */
  organization: string | null;
  role: string;
  /** The inviter's address; null for a script. */
  by: string | null;
  /** How often the organization has invited this address within a day, including now. */
  timesToday: number;
  expiresAtMs: number;
  atMs: number;
}

const NAME_CHARACTERS = 60;

/** Never throws. */
export async function mailInvitation(invitation: InvitationMail, send: SendMail): Promise<MailOutcome> {
  const not = (reason: string): MailOutcome => ({ state: "not_sent", reason });
  const { id, to, atMs, organization } = invitation;
  if (!isMailAddress(to)) return not("No mail can be sent to this address.");
  const beyond = beyondQuota(invitation.timesToday);
  if (beyond !== null) return beyond;
  const subject =
    organization === null ? "You are invited as an operator" : "You are invited to an organization";
  const sent = await send({ id, to, subject, text: bodyOf(invitation), atMs });
  return sent.kind === "delivered" ? { state: "sent", reason: null } : not(sent.error);
}

const bodyOf = ({ by, organization, role, link, expiresAtMs }: InvitationMail): string =>
  [
    `${by ?? "Somebody"} invites you to ${organization === null ? "operate this gateway" : `the organization ${harmless(organization)} as ${role}`}.`,
    "",
    `Accept it here: ${link}`,
    "",
    `The link works once, until ${printMinute(expiresAtMs)}, and only with your address. Anyone who has it can use it, so do not forward it.`,
    "If you did not expect this mail, ignore it: nothing happens unless the link is opened.",
    "",
  ].join("\n");

/**
 * Members name their organization and choose the recipients: what they type must not form a sentence or an
 * address.
 */
const harmless = (name: string): string =>
  `"${Array.from(name.replace(/[^\p{L}\p{M}\p{N}'&-]+/gu, " ").trim())
    .slice(0, NAME_CHARACTERS)
    .join("")}"`;

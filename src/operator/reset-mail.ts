// A link for a new password in the mailbox of whose account it is: sent once, when it is made. Who reads it learns in any case that
// somebody asked for one.
import { isMailAddress } from "../domain/mail-address.ts";
import { printMinute } from "../domain/print.ts";
import type { SendMail } from "../alerts/mail/message.ts";
import { beyondQuota, type MailOutcome } from "./mail-quota.ts";

/** What the mail says; `link` holds the token, and is kept nowhere. */
export interface ResetMail {
  id: string;
  to: string;
  link: string;
  /** The second factor is switched off already, and passkeys are gone. */
  twoFactorRemoved: boolean;
  /** How many links were made for this account within a day, this one included. */
  timesToday: number;
  expiresAtMs: number;
  atMs: number;
}

/** Never throws. */
export async function mailReset(reset: ResetMail, send: SendMail): Promise<MailOutcome> {
  const { id, to, atMs } = reset;
  if (!isMailAddress(to)) return { state: "not_sent", reason: "No mail can be sent to this address." };
  const beyond = beyondQuota(reset.timesToday);
  if (beyond !== null) return beyond;
  const sent = await send({ id, to, subject: "A new password for your account", text: bodyOf(reset), atMs });
  return sent.kind === "delivered"
    ? { state: "sent", reason: null }
    : { state: "not_sent", reason: sent.error };
}

const bodyOf = ({ to, link, twoFactorRemoved, expiresAtMs }: ResetMail): string =>
  [
    `An operator created a link to set a new password for the account ${to}.`,
    ...(twoFactorRemoved ? ["Its second factor was turned off, and its passkeys were removed."] : []),
    "",
    `Set the password here: ${link}`,
    "",
    `The link works once, until ${printMinute(expiresAtMs)}. Anyone who has it can use it, so do not forward it.`,
    "If you did not ask for it, tell an operator: someone may be trying to get into your account.",
    "",
  ].join("\n");

// Mails a link for a new password to the account's address: sent once, when it is created. In any case the
// reader learns that somebody requested one.
import { isMailAddress } from "../domain/mail-address.ts";
import { printMinute } from "../domain/print.ts";
import type { SendMail } from "../alerts/mail/message.ts";
import { beyondQuota, type MailOutcome } from "./mail-quota.ts";

/** The content of the mail; `link` contains the token, and is not stored. */
export interface ResetMail {
  id: string;
  to: string;
  link: string;
  /** The second factor has been switched off, and the passkeys removed. */
  twoFactorRemoved: boolean;
  /** How many links were created for this account within a day, including this one. */
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

// The channel `mail`: a message to a member's mailbox. Only people who are members at the time of each try
// get mail: the figures belong to the organization, and nobody can make this gateway write to strangers.
import { isMailAddress } from "../../domain/mail-address.ts";
import { printMinute } from "../../domain/print.ts";
import type { Channel, Delivery } from "../alert.ts";
import type { Sent } from "../sent.ts";
import { TargetRefusal } from "../target.ts";
import type { SendMail } from "./message.ts";

export interface MailPorts {
  send: SendMail;
  /**
   * Whether this address belongs to a current member who has proven that it is theirs
   * (`people/proven-address.ts`).
   */
  standing(organizationId: string, address: string): Promise<"member" | "unproven" | "stranger">;
  /** Where people see the organization's alerts. */
  pageOf(organizationId: string): string;
}

const UNPROVEN =
  "must be verified by its member first: through the link in an invitation mail, company sign-in, or a link that sets a new password";

/** Throws `TargetRefusal`. */
export async function readRecipient(
  text: string,
  { organizationId, mail }: { organizationId: string; mail: MailPorts | null },
): Promise<string> {
  const address = text.trim().toLowerCase();
  if (mail === null) throw new TargetRefusal("cannot be a mail address: this gateway does not send mail");
  if (!isMailAddress(address)) throw new TargetRefusal("must be a mail address like ada@example.com");
  const standing = await mail.standing(organizationId, address);
  if (standing === "stranger") throw new TargetRefusal("must be the address of a member of the organization");
  if (standing === "unproven") throw new TargetRefusal(UNPROVEN);
  return address;
}

/** Never throws. */
export async function sendByMail(
  { name, target, organizationId }: Channel,
  delivery: Delivery,
  mail: MailPorts | null,
): Promise<Sent> {
  const not = (kind: "failed" | "refused", error: string): Sent => ({ kind, status: null, error });
  // Waiting messages are sent once mail is configured again.
  if (mail === null) return not("failed", "This gateway does not send mail at present.");
  if (!isMailAddress(target)) return not("refused", "The address is damaged; create a new channel.");
  try {
    const standing = await mail.standing(organizationId, target);
    if (standing === "stranger")
      return not("refused", "No member of the organization has this address any more.");
    if (standing === "unproven") return not("refused", `The address ${UNPROVEN}.`);
  } catch {
    return not("failed", "The organization's members could not be read.");
  }
  const { id, text, createdAtMs: atMs } = delivery;
  const page = mail.pageOf(organizationId);
  return mail.send({ id, to: target, subject: text, text: bodyOf({ text, name, page, atMs }), atMs });
}

const bodyOf = (on: { text: string; name: string; page: string; atMs: number }): string =>
  [
    on.text,
    "",
    printMinute(on.atMs),
    "",
    `All alerts and their rules: ${on.page}`,
    `You receive this mail because the channel "${on.name}" there has your address.`,
    "",
  ].join("\n");

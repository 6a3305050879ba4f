// The outcome of a mail with a link, and the limit on mails of one kind to one address.

/** `reason` is null if the mail was sent. */
export interface MailOutcome {
  state: "sent" | "not_sent";
  /** A sentence for the person who created the link. */
  reason: string | null;
}

const TIMES_A_DAY = 3;

/** `timesToday`: within a day, including now. Null if one more may be sent. */
export const beyondQuota = (timesToday: number): MailOutcome | null =>
  timesToday <= TIMES_A_DAY
    ? null
    : {
        state: "not_sent",
        reason: `This address can be sent at most ${TIMES_A_DAY} mails a day. Pass the link on yourself.`,
      };

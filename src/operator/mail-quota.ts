// What came of a mail with a link, and how many of one kind go to one address.

/** `reason` is null where the mail was sent. */
export interface MailOutcome {
  state: "sent" | "not_sent";
  /** A sentence for who made the link. */
  reason: string | null;
}

const TIMES_A_DAY = 3;

/** `timesToday`: within a day, this time included. Null where one more may be sent. */
export const beyondQuota = (timesToday: number): MailOutcome | null =>
  timesToday <= TIMES_A_DAY
    ? null
    : {
        state: "not_sent",
        reason: `This address can be sent at most ${TIMES_A_DAY} mails a day. Pass the link on yourself.`,
      };

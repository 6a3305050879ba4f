// How long credits last, and when that is told: of an organization to its own people, of all of them to operators.

/** The pace at which credits are spent is that of so many days. */
export const BURN_DAYS = 7;
/** Credits that last less than so many days at this pace need a look. */
export const CREDIT_DAYS_MIN = 3n;

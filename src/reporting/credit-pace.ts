// How long credits last, and when that is reported: of one organization to its own people, of all to
// operators.

/** The number of days over which the daily spend is averaged. */
export const BURN_DAYS = 7;
/** Credits that last fewer days than this at that rate need attention. */
export const CREDIT_DAYS_MIN = 3n;

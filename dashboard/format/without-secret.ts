// What is typed or pasted into a search goes into addresses, histories and logs: of a key, nothing that is secret.

/** Each key up to its secret, whatever it was copied with; anything else as it is. */
export const withoutSecret = (typed: string): string =>
  typed.trim().replace(/(gw_sk_[0-9A-Za-z]{24}|gw_mk_[0-9A-Za-z]{12})[0-9A-Za-z]+/g, "$1");

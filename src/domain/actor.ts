// Who makes a change, and from where: made at the door that admits the call, handed down to the line of the audit log
// (hardening.md S40). Nothing on the way reads it from anywhere else.

/** The call behind a change. */
export interface From {
  /** The client's, past trusted proxies: the one that sign-ins are counted by. */
  address: string | null;
  /** As on the response, `x-request-id`. */
  requestId: string | null;
}

/** Stands where a person would: owns the keys of `operator.json`, and every key that nobody is known to have made. */
export const INSTALLATION = "installation";

/** Makes the keys of `operator.json`, at each start of a gateway. */
export const START = "start";

export interface Actor extends From {
  /** A person's, a management key's, or the gateway's own words. */
  id: string;
}

/** What the gateway does of its own accord: no call is behind it. */
export const OF_ITSELF: From = { address: null, requestId: null };

/** The gateway as its own actor; `id` names the work that acts, like `START`. */
export const byItself = (id: string): Actor => ({ id, ...OF_ITSELF });

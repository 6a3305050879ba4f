// Who makes a change, and from where. Created at the door that admits the call and passed down to the line of the audit log
// (hardening.md S40); nothing on the way reads it from anywhere else.

/** The call behind a change. */
export interface From {
  /** The client's address, past trusted proxies: the one that sign-ins are counted by. */
  address: string | null;
  /** The same as `x-request-id` of the response. */
  requestId: string | null;
}

/** Used in place of a person: owns the keys of `operator.json`, and every key whose creator is not known. */
export const INSTALLATION = "installation";

/** Creates the keys of `operator.json` at each start of a gateway. */
export const START = "start";

export interface Actor extends From {
  /** The id of a person, a management key or one of the gateway's own names. */
  id: string;
}

/** For changes that the gateway makes by itself, without a call. */
export const OF_ITSELF: From = { address: null, requestId: null };

/** The gateway as its own actor; `id` names the work that acts, like `START`. */
export const byItself = (id: string): Actor => ({ id, ...OF_ITSELF });

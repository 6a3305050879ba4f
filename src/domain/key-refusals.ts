// Refusals of a key that does not let the caller in (wire.md §8). The key is never echoed.
import { Refusal } from "./refusals.ts";

const HOW =
  "Send Authorization: Bearer followed by a key that begins with gw_sk_. Create keys on the dashboard or with ./tollgate keys create.";

const wrong = (what: string): Refusal =>
  new Refusal("invalid_api_key", `${what} ${HOW}`, { headers: { "www-authenticate": "Bearer" } });

/** Malformed, unknown and wrong keys get the same answer. */
export const invalidApiKey = (): Refusal => wrong("Incorrect API key provided.");

/** No key was sent: a variable is not set, or a proxy drops the header. */
export const missingApiKey = (): Refusal => wrong("No API key was sent.");

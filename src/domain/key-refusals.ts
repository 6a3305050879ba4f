// What callers hear of a key that lets nobody in (wire.md §8). The key is never echoed.
import { Refusal } from "./refusals.ts";

const HOW =
  "Send Authorization: Bearer followed by a key that begins with gw_sk_. Create keys on the dashboard or with ./tollgate keys create.";

const wrong = (what: string): Refusal =>
  new Refusal("invalid_api_key", `${what} ${HOW}`, { headers: { "www-authenticate": "Bearer" } });

/** Malformed, unknown and wrong ones look alike. */
export const invalidApiKey = (): Refusal => wrong("Incorrect API key provided.");

/** Nothing came where the key belongs: a variable that is not set, or a proxy that drops the header. */
export const missingApiKey = (): Refusal => wrong("No API key was sent.");

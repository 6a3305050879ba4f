// Management keys: an operator's access without a session.
import { z } from "zod";
import { line, listOf, page, personRef, searchText, time } from "./fields.ts";

const KEY_STATES = ["active", "expired", "revoked"] as const;
export const managementKey = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  /** The owner: the key stops working once they are not an operator. Null for the installation's own. */
  owner: personRef.nullable(),
  created_at: time,
  /** For logins of the command line; null for one that lasts until it is revoked. */
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  state: z.enum(KEY_STATES),
  /** Last use at `/admin/v1` or `/metrics`, to the minute; null before the first. */
  last_used_at: time.nullable(),
});
export const managementKeyList = listOf(managementKey);
/** `search`: a part of the name or of the prefix, or an id. */
export const managementKeysQuery = z.strictObject({
  ...page,
  search: searchText.optional(),
  state: z.enum(KEY_STATES).optional(),
});
export const createManagementKeyInput = z.strictObject({ name: line() });
/** `secret` is shown once; null if the same Idempotency-Key showed it before. */
export const createdManagementKey = managementKey.extend({ secret: z.string().nullable() });

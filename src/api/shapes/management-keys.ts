// Management keys: an operator's way in without a session.
import { z } from "zod";
import { line, listOf, personRef, time } from "./fields.ts";

export const managementKey = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  /** Whose it is: it opens nothing once they are no operator. Null for the installation's own. */
  owner: personRef.nullable(),
  created_at: time,
  /** Of logins of the command line; null for one that lasts until it is revoked. */
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  state: z.enum(["active", "expired", "revoked"]),
  /** Of `/admin/v1` or `/metrics`, to the minute; null before the first. */
  last_used_at: time.nullable(),
});
export const managementKeyList = listOf(managementKey);
export const createManagementKeyInput = z.strictObject({ name: line() });
/** `secret` once; null when the same Idempotency-Key had shown it before. */
export const createdManagementKey = managementKey.extend({ secret: z.string().nullable() });

// Results of the dashboard's search: a few of each kind, with what distinguishes them.
import { z } from "zod";

/** At least two characters: almost everything contains any single one. */
const text = z.string().trim().min(2).max(100);
export const searchQuery = z.strictObject({ q: text });
const searchHit = z.object({
  kind: z.enum(["organization", "key", "model", "request"]),
  id: z.string(),
  /** The owner; null for a model. */
  org: z.string().nullable(),
  org_name: z.string().nullable(),
  title: z.string(),
  /** A key's prefix, a request's model. */
  detail: z.string().nullable(),
  state: z.string().nullable(),
});
export const searchHits = z.object({ data: z.array(searchHit) });

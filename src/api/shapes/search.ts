// What the search of the dashboard finds: a few of each kind, with what tells them apart.
import { z } from "zod";

/** Two characters at least: of one, everything has some. */
const text = z.string().trim().min(2).max(100);
export const searchQuery = z.strictObject({ q: text });
const searchHit = z.object({
  kind: z.enum(["organization", "key", "model", "request"]),
  id: z.string(),
  /** Whose it is; null for a model. */
  org: z.string().nullable(),
  org_name: z.string().nullable(),
  title: z.string(),
  /** A key's prefix, a request's model. */
  detail: z.string().nullable(),
  state: z.string().nullable(),
});
export const searchHits = z.object({ data: z.array(searchHit) });

// The dashboard's search: of an organization for its members, everywhere for operators.
import { z } from "zod";
import { search } from "../reporting/search.ts";
import { endpoint } from "./endpoint.ts";
import { id } from "./shapes/fields.ts";
import { searchHits, searchQuery } from "./shapes/search.ts";

export const searchEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/search",
    who: "activity.see",
    input: searchQuery.extend({ org: id }),
    output: searchHits,
    run: async ({ input: { org, q } }, { reports }) => ({ data: await search(reports, org, q) }),
  }),
  endpoint({
    target: "GET /app/v1/operator/search",
    who: "operate",
    input: z.strictObject(searchQuery.shape),
    output: searchHits,
    run: async ({ input: { q } }, { reports }) => ({ data: await search(reports, null, q) }),
  }),
] as const;

// The first page of an organization.
import { overviewOf } from "../reporting/overview.ts";
import { endpoint } from "./endpoint.ts";
import { id } from "./shapes/fields.ts";
import * as shapes from "./shapes/overview.ts";

export const overviewEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/overview",
    who: "overview.see",
    input: shapes.overviewQuery.extend({ org: id }),
    output: shapes.overview,
    run: ({ input: { org, ...query } }, { reports }) => overviewOf(reports, org, query),
  }),
] as const;

// Models with their routes, cost estimates, the playground.
import { z } from "zod";
import { notFound } from "../domain/unknown-record.ts";
import { estimateFor, modelsOf } from "../reporting/catalogue.ts";
import { storedCredential } from "../reporting/key-makers.ts";
import { endpoint } from "./endpoint.ts";
import type { Paying, Rooms } from "./rooms.ts";
import * as shapes from "./shapes/catalogue.ts";
import { id } from "./shapes/fields.ts";

const playgroundInput = shapes.playgroundInput.extend({ org: id });

export const modelsEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/models",
    who: "models.see",
    input: z.strictObject({ org: id }),
    output: shapes.modelList,
    run: async ({ input }, { reports }) => ({ data: await modelsOf(reports, input.org), next_cursor: null }),
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/models/estimate",
    who: "models.see",
    input: shapes.estimateQuery.extend({ org: id }),
    output: shapes.estimate,
    run: async ({ input }, { reports }) => estimateFor(reports, input),
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/playground",
    who: "playground.use",
    input: playgroundInput,
    output: "completion",
    audit: null,
    run: async ({ input, exchange }, rooms) =>
      await rooms.playground.complete(exchange, await payingBy(rooms, input)),
  }),
  endpoint({
    target: "POST /app/v1/orgs/{org}/playground/quote",
    who: "playground.use",
    input: playgroundInput,
    output: shapes.playgroundQuote,
    audit: null,
    run: async ({ input, exchange }, rooms) =>
      await rooms.playground.quote(exchange, await payingBy(rooms, input)),
  }),
] as const;

/**
 * A session replaces a key's secret, everything else is `/v1`: the chosen key pays, with its scope, limit and
 * rate.
 */
async function payingBy(
  { reports }: Rooms,
  { org, key, surface, request }: z.output<typeof playgroundInput>,
): Promise<Paying> {
  const authorization = await storedCredential(reports.sql, org, key);
  if (authorization === null) throw notFound("key");
  return { authorization, surface, body: new TextEncoder().encode(JSON.stringify(request)) };
}

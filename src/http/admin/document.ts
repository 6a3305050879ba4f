// The OpenAPI document of the operator API, made from the table of operations; `docs/openapi.json` is its committed
// copy. Schemas become components by the id in their `.meta`.
import { OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import { z } from "zod";
import { errorSchema } from "../../contract/admin.ts";
import type { Operation } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";

const ERRORS = {
  400: "Malformed or not acceptable; `param` names the field.",
  401: "No, unknown or revoked management key.",
  403: "An inference key.",
  404: "No record of this id.",
  409: "State or an earlier call forbids it, or somebody else was faster.",
  default: "Any other refusal.",
};

const REPEATABLE = z.object({
  "idempotency-key": z
    .string()
    .min(8)
    .max(200)
    .optional()
    .describe(
      "The same change under the same key is made once, for a day; a secret is in the first answer only.",
    ),
});

/** The whole document, OpenAPI 3.1. */
export function openApiDocument(): object {
  const app = new OpenAPIHono();
  app.openAPIRegistry.registerComponent("securitySchemes", "managementKey", {
    type: "http",
    scheme: "bearer",
    description: "A management key, gw_mk_…; the gateway writes one to operator.json in its data directory.",
  });
  for (const operation of OPERATIONS) app.openAPIRegistry.registerPath(describe(operation));
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Tollgate operator API",
      version: "1",
      description:
        "Organizations, credits, keys, entitlements, releases, routes, usage and the ledger's audit. " +
        "Money is a decimal string of US dollars, a time is RFC 3339 in UTC.",
    },
    servers: [{ url: "/" }],
    security: [{ managementKey: [] }],
  });
}

function describe({ method, path, summary, noun, audit, input, status, output }: Operation): RouteConfig {
  return {
    method,
    path: `/admin/v1${path}`,
    operationId: `${method}${path.replace(/[/{}]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    tags: [noun],
    ...(audit !== null && { "x-audit": audit }),
    request: {
      params: input.params,
      query: input.query,
      ...(method === "post" && { headers: REPEATABLE }),
      ...(input.body && {
        body: { required: true, content: { "application/json": { schema: input.body } } },
      }),
    },
    responses: {
      [status]: { description: "Done.", content: { "application/json": { schema: output } } },
      ...Object.fromEntries(
        Object.entries(ERRORS).map(([code, description]) => [
          code,
          { description, content: { "application/json": { schema: errorSchema } } },
        ]),
      ),
    },
  };
}

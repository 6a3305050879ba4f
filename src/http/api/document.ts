// The OpenAPI document of the operator API, generated from the table of operations; `docs/openapi.json` is its committed copy.
// Schemas become components by the id in their `.meta`.
import { OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import { z } from "zod";
import { ENDPOINTS } from "../../api/endpoints.ts";
import { type Endpoint, reads } from "../../api/endpoint.ts";
import { pathFields, pathOf, type Target } from "../../api/target.ts";
import { errorSchema } from "../../api/shapes/records.ts";

const ERRORS = {
  400: "The request is malformed or invalid; `param` names the field.",
  401: "The management key is missing, unknown or revoked.",
  403: "An API key was used, or this person may not do this: nobody approves an entitlement that they requested.",
  404: "No record has this id.",
  409: "The current state or an earlier call forbids it, or somebody else made a change first.",
  default: "Any other refusal.",
};

const REPEATABLE = z.object({
  "idempotency-key": z
    .string()
    .min(8)
    .max(200)
    .optional()
    .describe(
      "A change sent again with the same key within a day is made only once; only the first response contains a secret.",
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
  for (const { noun, endpoint } of ENDPOINTS)
    for (const target of endpoint.targets)
      if (pathOf(target).startsWith("/admin/v1/"))
        app.openAPIRegistry.registerPath(describe(operationOf(noun, target, endpoint)));
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Tollgate operator API",
      version: "1",
      description:
        "Organizations, credits, keys, entitlements, releases, routes, usage and the audit of the ledger. " +
        "Amounts are decimal strings in US dollars; times are RFC 3339 in UTC.",
    },
    servers: [{ url: "/" }],
    security: [{ managementKey: [] }],
  });
}

interface Described {
  noun: string;
  method: "get" | "post";
  /** The path below `/admin/v1`, with `{name}` for parameters. */
  path: string;
  summary: string;
  audit: string | null;
  input: { params: z.ZodObject; query: z.ZodObject; body: z.ZodObject | null };
  status: 200 | 201;
  output: z.ZodType;
}

function operationOf(
  noun: string,
  target: Target,
  { audit, input, output, status, summary }: Endpoint,
): Described {
  const carried = pathFields(target);
  const part = (named: (name: string) => boolean): z.ZodObject =>
    z.strictObject(Object.fromEntries(Object.entries(input.shape).filter(([name]) => named(name))));
  const rest = carried.length === 0 ? input : part((name) => !carried.includes(name));
  const id = z.globalRegistry.get(input)?.id;
  const isEmpty = Object.keys(rest.shape).length === 0;
  const body = isEmpty || id === undefined || rest === input ? rest : rest.meta({ id });
  if (typeof output === "string") throw new Error(`${target} answers with no document`);
  return {
    noun,
    method: reads(target) ? "get" : "post",
    path: pathOf(target).slice("/admin/v1".length),
    summary: summary ?? "",
    audit,
    input: {
      params: part((name) => carried.includes(name)),
      query: reads(target) ? rest : z.strictObject({}),
      body: reads(target) || isEmpty ? null : body,
    },
    status,
    output,
  };
}

function describe({ method, path, summary, noun, audit, input, status, output }: Described): RouteConfig {
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

// Releases and the routes that they serve.
import { z } from "zod";
import { releasesPage, routeRow, routeRows, previewRelease } from "../reporting/routes.ts";
import { endpoint } from "./endpoint.ts";
import * as shapes from "./shapes/releases.ts";
import { disableRouteInput, routeRecordsQuery } from "./shapes/record-inputs.ts";
import { modelUseQuery, modelUseSchema } from "./shapes/price.ts";
import { releaseListSchema, releaseSchema, routeListSchema, routeSchema } from "./shapes/records.ts";

const nothing = z.strictObject({});

export const releasesEndpoints = [
  endpoint({
    target: "POST /app/v1/operator/releases/verify",
    who: "operate",
    input: shapes.publishInput,
    output: shapes.verifiedRelease,
    audit: null,
    run: ({ input }, { reports }) => previewRelease(reports, input.jws),
  }),
  endpoint({
    target: "POST /app/v1/operator/releases",
    who: "operate",
    input: shapes.publishInput,
    output: shapes.route,
    status: 201,
    audit: "release.publish",
    run: async ({ input, caller }, { operator, reports }) => {
      const { route } = await operator.releases.publish(input.jws, caller.actor);
      return await routeRow(reports, route);
    },
  }),
  endpoint({
    target: "GET /app/v1/operator/releases",
    who: "operate",
    input: shapes.releasesQuery,
    output: shapes.releaseHistory,
    run: ({ input }, { reports }) => releasesPage(reports, input),
  }),
  endpoint({
    target: "GET /app/v1/operator/trusted-keys",
    who: "operate",
    input: nothing,
    output: shapes.trustedKeyList,
    run: async (_, { reports }) => ({
      data: reports.publisher.trustedKeys().map((key) => ({ id: key })),
      next_cursor: null,
    }),
  }),
  endpoint({
    target: "POST /admin/v1/releases",
    who: "operate",
    summary: "Publish a signed release of a route",
    input: shapes.publishInput,
    output: releaseSchema,
    audit: "release.publish",
    run: ({ input, caller }, { operator }) => operator.releases.publish(input.jws, caller.actor),
  }),
  endpoint({
    target: "GET /admin/v1/releases",
    who: "operate",
    summary: "List the newest release of each route, ordered by route",
    input: routeRecordsQuery,
    output: releaseListSchema,
    run: ({ input }, { operator }) => operator.releases.list(input),
  }),
  endpoint({
    target: "GET /admin/v1/models/use",
    who: "operate",
    summary: "List the organizations that used a model in the last thirty days",
    input: modelUseQuery,
    output: modelUseSchema,
    run: ({ input }, { operator }) => operator.models.use(input.model),
  }),
] as const;

export const routesEndpoints = [
  endpoint({
    target: "GET /app/v1/operator/routes",
    who: "operate",
    input: nothing,
    output: shapes.routeList,
    run: async (_, { reports }) => ({ data: await routeRows(reports), next_cursor: null }),
  }),
  endpoint({
    target: "POST /app/v1/operator/routes/disable",
    who: "operate",
    input: shapes.disableInput,
    output: shapes.route,
    audit: "route.disable",
    run: async ({ input, caller }, { operator, reports }) => {
      await operator.routes.disable(input, caller.actor);
      return await routeRow(reports, input.route);
    },
  }),
  endpoint({
    target: "POST /app/v1/operator/routes/enable",
    who: "operate",
    input: shapes.enableInput,
    output: shapes.route,
    audit: "route.enable",
    run: async ({ input, caller }, { operator, reports }) => {
      await operator.routes.enable(input.route, caller.actor);
      return await routeRow(reports, input.route);
    },
  }),
  endpoint({
    target: "GET /admin/v1/routes",
    who: "operate",
    summary: "List routes with their state and health, ordered by route",
    input: routeRecordsQuery,
    output: routeListSchema,
    run: ({ input }, { operator }) => operator.routes.list(input),
  }),
  endpoint({
    target: "POST /admin/v1/routes/disable",
    who: "operate",
    summary: "Close a route by hand",
    input: disableRouteInput,
    output: routeSchema,
    audit: "route.disable",
    run: ({ input, caller }, { operator }) => operator.routes.disable(input, caller.actor),
  }),
  endpoint({
    target: "POST /admin/v1/routes/enable",
    who: "operate",
    summary: "Open a route that was closed by hand",
    input: shapes.enableInput,
    output: routeSchema,
    audit: "route.enable",
    run: ({ input, caller }, { operator }) => operator.routes.enable(input.route, caller.actor),
  }),
] as const;

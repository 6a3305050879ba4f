// The operator's first page: each block has its own endpoint, so that a slow one does not delay the others.
import { z } from "zod";
import { endingSoon } from "../reporting/home-ending.ts";
import { marginOf } from "../reporting/home-margin.ts";
import { providerMatrix } from "../reporting/home-providers.ts";
import { trafficNow } from "../reporting/home-traffic.ts";
import { waitingNow } from "../reporting/home-waiting.ts";
import { endpoint } from "./endpoint.ts";
import * as shapes from "./shapes/home.ts";

const nothing = z.strictObject({});

export const homeEndpoints = [
  endpoint({
    target: "GET /app/v1/operator/home/traffic",
    who: "operate",
    input: nothing,
    output: shapes.homeTraffic,
    run: (_, { reports }) => trafficNow(reports),
  }),
  endpoint({
    target: "GET /app/v1/operator/home/margin",
    who: "operate",
    input: nothing,
    output: shapes.homeMargin,
    run: (_, { reports }) => marginOf(reports),
  }),
  endpoint({
    target: "GET /app/v1/operator/home/providers",
    who: "operate",
    input: nothing,
    output: shapes.homeProviders,
    run: async (_, { reports }) => ({ data: await providerMatrix(reports), next_cursor: null }),
  }),
  endpoint({
    target: "GET /app/v1/operator/home/waiting",
    who: "operate",
    input: nothing,
    output: shapes.homeWaiting,
    run: async (_, { reports }) => ({ data: await waitingNow(reports), next_cursor: null }),
  }),
  endpoint({
    target: "GET /app/v1/operator/home/ending",
    who: "operate",
    input: nothing,
    output: shapes.homeEnding,
    run: async (_, { reports }) => ({ data: await endingSoon(reports), next_cursor: null }),
  }),
] as const;

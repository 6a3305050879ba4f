// The catalogue as this organization sees it, and what a call would cost.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { AppAnswer } from "../../src/contract/app.ts";
import { get } from "./client.ts";
import { api } from "./paths.ts";

export type Model = AppAnswer<"GET /orgs/{org}/models">["data"][number];
export type Estimate = AppAnswer<"GET /orgs/{org}/models/estimate">;

export const modelsQuery = (org: string) =>
  queryOptions({
    queryKey: ["organization", org, "models"],
    queryFn: ({ signal }) => get<AppAnswer<"GET /orgs/{org}/models">>(api.models(org), {}, signal),
    refetchInterval: 15_000,
  });

/** What a first request can be sent to: the snippets name it, the test request asks it. */
export const callableModel = (models: readonly Model[] = []): Model | undefined =>
  models.find(({ access, state, tier }) => access === "open" && state === "live" && tier === "standard");

export interface EstimateTerms {
  model: string;
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
}

export const estimateQuery = (org: string, terms: EstimateTerms) =>
  queryOptions({
    queryKey: ["organization", org, "estimate", terms],
    queryFn: ({ signal }) => get<Estimate>(api.estimate(org), { ...terms }, signal),
    placeholderData: keepPreviousData,
  });

// What was used and what it cost: activity, usage, overview.
import { keepPreviousData, infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { AppAnswer } from "../../src/contract/app.ts";
import { get, type Query } from "./client.ts";
import { api } from "./paths.ts";

type Activity = AppAnswer<"GET /orgs/{org}/activity">;
export type ActivityRow = Activity["data"][number];
export type ActivityHistogram = AppAnswer<"GET /orgs/{org}/activity/histogram">;
export type RequestDetail = AppAnswer<"GET /orgs/{org}/activity/{request}">;
export type Usage = AppAnswer<"GET /orgs/{org}/usage">;
export type Overview = AppAnswer<"GET /orgs/{org}/overview">;

export const activityOf = (org: string) => ["organization", org, "activity"] as const;

export const activityQuery = (org: string, filters: Query) =>
  infiniteQueryOptions({
    queryKey: [...activityOf(org), filters],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      get<Activity>(api.activity(org), { ...filters, cursor: pageParam }, signal),
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });

/** Below the list's key: what makes the list be asked again counts it again. */
export const histogramQuery = (org: string, filters: Query) =>
  queryOptions({
    queryKey: [...activityOf(org), "histogram", filters],
    queryFn: ({ signal }) => get<ActivityHistogram>(api.activityHistogram(org), filters, signal),
    placeholderData: keepPreviousData,
  });

export const requestQuery = (org: string, request: string) =>
  queryOptions({
    queryKey: ["organization", org, "request", request],
    queryFn: ({ signal }) => get<RequestDetail>(api.request(org, request), {}, signal),
  });

export const usageQuery = (org: string, filters: Query) =>
  queryOptions({
    queryKey: ["organization", org, "usage", filters],
    queryFn: ({ signal }) => get<Usage>(api.usage(org), filters, signal),
  });

export const overviewQuery = (org: string, range: string) =>
  queryOptions({
    queryKey: ["organization", org, "overview", range],
    queryFn: ({ signal }) => get<Overview>(api.overview(org), { range }, signal),
    refetchInterval: 15_000,
  });

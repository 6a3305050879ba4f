import { queryOptions } from "@tanstack/react-query";
import { read } from "./read.ts";

/** One key of an organization as its list shows it, by its id; null when there is none. */
export const keyQuery = (org: string, key: string) =>
  queryOptions({
    ...read("GET /orgs/{org}/keys", { org }, { search: key }),
    select: ({ data }) => data.find(({ id }) => id === key) ?? null,
    enabled: key !== "",
  });

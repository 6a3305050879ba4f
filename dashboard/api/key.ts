import { queryOptions } from "@tanstack/react-query";
import { read } from "./read.ts";

/** One key of an organization, by its id, as its list shows it; null if there is none. */
export const keyQuery = (org: string, key: string) =>
  queryOptions({
    ...read("GET /orgs/{org}/keys", { org }, { search: key }),
    select: ({ data }) => data.find(({ id }) => id === key) ?? null,
    enabled: key !== "",
  });

import { queryOptions } from "@tanstack/react-query";
import { read } from "./read.ts";

/** One organization as operators see it, by its id; undefined if there is none. */
export const organizationQuery = (org: string) =>
  queryOptions({
    ...read("GET /operator/organizations", {}, { search: org }),
    select: ({ data }) => data.find(({ id }) => id === org),
    enabled: org !== "",
  });

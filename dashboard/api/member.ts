import { queryOptions } from "@tanstack/react-query";
import { read } from "./read.ts";

/** One member of an organization, by the person's id; null if there is none. */
export const memberQuery = (org: string, person: string) =>
  queryOptions({
    ...read("GET /orgs/{org}/team", { org }, { search: person }),
    select: ({ data }) => data.find((one) => one.person.id === person) ?? null,
    enabled: person !== "",
  });

// What a request of the playground would hold.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { send } from "./client.ts";
import { api } from "./paths.ts";

interface Quote {
  max_charge_usd: string;
}

export const quoteQuery = (org: string, body: { key: string; request: object }) =>
  queryOptions({
    queryKey: ["organization", org, "quote", body],
    queryFn: () => send<Quote>(api.quote(org), { body }),
    placeholderData: keepPreviousData,
    retry: false,
  });

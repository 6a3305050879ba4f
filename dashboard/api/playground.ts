// What a request of the playground would hold, and whether it would be admitted now.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { ChatBody } from "./completion.ts";
import { send } from "./client.ts";
import { api } from "./paths.ts";

export interface Quote {
  /** Null where it has no bound, because it would be refused. */
  max_charge_usd: string | null;
  prompt_tokens_max: number | null;
  refusal: { status: number; code: string; message: string } | null;
  /** What lowers the bound to the credits that are there. */
  affordable_max_tokens: number;
}

export const quoteQuery = (org: string, body: { key: string; request: ChatBody }) =>
  queryOptions({
    queryKey: ["organization", org, "quote", body],
    queryFn: () => send<Quote>(api.quote(org), { body }),
    placeholderData: keepPreviousData,
    retry: false,
  });

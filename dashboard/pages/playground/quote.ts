// What a request of the playground would hold, and whether it would be admitted now.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { send } from "../../api/client.ts";
import type { ChatBody } from "../../api/chat.ts";
import { addressOf } from "../../api/routes.ts";
import { WORDS } from "../../api/surface-words.ts";
import type { SpokenSurface } from "../../../src/domain/surfaces.ts";

interface Quote {
  /** Null if it has no bound, because it would be rejected. */
  max_charge_usd: string | null;
  prompt_tokens_max: number | null;
  refusal: { status: number; code: string; message: string } | null;
  /** The largest output maximum whose bound the available credits cover. */
  affordable_max_tokens: number;
}

export const quoteQuery = (org: string, asked: { key: string; surface: SpokenSurface; request: ChatBody }) =>
  queryOptions({
    queryKey: ["orgs", org, "quote", asked],
    queryFn: () =>
      send<Quote>(addressOf("POST /orgs/{org}/playground/quote", { org }), {
        body: { ...asked, request: WORDS[asked.surface].body(asked.request) },
      }),
    placeholderData: keepPreviousData,
    retry: false,
  });

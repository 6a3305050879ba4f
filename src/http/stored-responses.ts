// Everything below /v1/responses: nothing is stored, so there is nothing to fetch, cancel or delete (surfaces.md §3).
import { clip } from "../domain/read-value.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { Handler } from "./context.ts";
import { withKey } from "./inference-door.ts";

/** One of the vendor's operations that is not supported here; it is not a response's id. */
const NOT_OPEN = "compact";

const WHOLE = "send the whole conversation as `input` items";

/** Throws `response_not_found` for any request about a response, and `unknown_url` for the vendor's operation. */
export const storedResponses = ({ ledger }: { ledger: Reader }): Handler =>
  withKey(ledger, ({ rest, request }) => {
    const [id = ""] = rest.split("/");
    if (request.method === "POST" && rest === NOT_OPEN)
      throw new Refusal(
        "unknown_url",
        `There is no operation \`${rest}\` here. Use POST /v1/responses, and ${WHOLE}; POST /v1/responses/quote shows what a request may cost.`,
      );
    throw new Refusal(
      "response_not_found",
      `Response with id '${clip(id)}' not found. Responses are not stored here: ${WHOLE}; GET /v1/generation shows what became of a request.`,
    );
  });

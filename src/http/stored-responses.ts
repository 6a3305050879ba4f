// What OpenAI has below /v1/responses: nothing is stored, so there is nothing to fetch, to cancel or to delete (surfaces.md §3).
import { clip } from "../domain/read-value.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { Handler } from "./context.ts";
import { withKey } from "./inference-door.ts";

/** Refuses whatever is asked for below `/v1/responses`, with what to do instead. */
export const storedResponses = ({ ledger }: { ledger: Reader }): Handler =>
  withKey(ledger, ({ rest, request }) => {
    const instead = request.method === "POST" ? INSTEAD.get(rest) : undefined;
    if (instead !== undefined) throw new Refusal("unknown_url", `There is no ${rest} here. ${instead}`);
    const [id = ""] = rest.split("/");
    throw new Refusal(
      "response_not_found",
      `Response with id '${clip(id)}' not found. Responses are not stored here: send the whole conversation as \`input\` items; GET /v1/generation tells what became of a request.`,
    );
  });

/** Operations that OpenAI has beside responses. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  [
    "compact",
    "Send the whole conversation as `input` items of POST /v1/responses, or a summary that you asked for.",
  ],
  ["input_tokens", "POST /v1/responses/quote tells what a call can cost and its tokens, free of charge."],
]);

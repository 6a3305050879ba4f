// GET and DELETE /v1/responses/{id}: nothing is stored, so there is nothing to fetch or to delete (surfaces.md §3).
import { clip } from "../domain/read-value.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { Handler } from "./context.ts";
import { withKey } from "./inference-door.ts";

export const storedResponses = ({ ledger }: { ledger: Reader }): Handler =>
  withKey(ledger, ({ rest }) => {
    throw new Refusal(
      "response_not_found",
      `Response with id '${clip(rest)}' not found. Responses are not stored here: send the whole conversation as \`input\` items; GET /v1/generation tells what became of a request.`,
    );
  });

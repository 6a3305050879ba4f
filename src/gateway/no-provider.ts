// The refusal for a model whose releases name only providers that this gateway's configuration lacks.
import { Refusal } from "../domain/refusals.ts";

const RETRY_AFTER_MS = 5000;

export const noProvider = (): Refusal =>
  new Refusal(
    "route_unavailable",
    "No provider for this model is set up on this gateway. Try again later or choose another model.",
    { retryAfterMs: RETRY_AFTER_MS },
  );

// Who issued what must come back with a call (wire.md §8.4): one model of one provider.
import { createHash } from "node:crypto";

/** Whose signatures and seals a model takes: its own. Says nothing about the provider to whom it is shown. */
export const issuerOf = (provider: string, upstreamModel: string): string =>
  createHash("sha256")
    .update(JSON.stringify([provider, upstreamModel]))
    .digest("base64url")
    .slice(0, 12);

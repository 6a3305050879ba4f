// The issuer of what must come back with a call (wire.md §8.4): one model of one provider.
import { createHash } from "node:crypto";

/**
 * Identifies the model whose signatures and seals these are; a model accepts only its own. The hash reveals nothing
 * about the provider to whom it is shown.
 */
export const issuerOf = (provider: string, upstreamModel: string): string =>
  createHash("sha256")
    .update(JSON.stringify([provider, upstreamModel]))
    .digest("base64url")
    .slice(0, 12);

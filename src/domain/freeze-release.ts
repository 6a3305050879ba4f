// Turns signed claims into the frozen release that requests are priced and routed by. Prices become exact bigints here; nothing is
// looked up, and nothing can fail once the manifest was parsed.
import { exactPrice } from "./price.ts";
import type { Manifest, Release } from "./release.ts";

/** What the signature says about a release, in addition to its manifest. */
export interface Signed {
  /** SHA-256 of the JWS, lower-case hex. */
  digest: string;
  issuedAtMs: number;
  expiresAtMs: number;
  /** Key id of the signer. */
  signedBy: string;
}

/** Freezes a parsed manifest as the release it describes. */
export function freezeRelease(manifest: Manifest, signed: Signed): Release {
  const { pricing, reasoning, capabilities, defaults } = manifest;
  const { currency: _, ...publishedPrice } = pricing;
  return Object.freeze({
    ...signed,
    route: manifest.route,
    version: manifest.version,
    model: manifest.model,
    provider: manifest.provider,
    upstreamModel: manifest.upstream_model,
    region: manifest.region,
    tier: manifest.tier,
    requiresPaid: manifest.requires_paid,
    contextWindow: manifest.context_window,
    maxOutputTokens: manifest.max_output_tokens,
    defaultOutputTokens: manifest.default_output_tokens,
    price: exactPrice(publishedPrice),
    publishedPrice,
    reasoning: reasoning ?? null,
    tokenizer: manifest.tokenizer,
    capabilities,
    imageTokensMax: manifest.image_tokens_max ?? null,
    fileTokensMax: manifest.file_tokens_max ?? null,
    filePagesMax: manifest.file_pages_max ?? null,
    remoteImages: manifest.remote_images,
    defaults: defaults.temperature === undefined ? {} : { temperature: defaults.temperature },
    priority: manifest.priority,
    weight: manifest.weight,
  });
}

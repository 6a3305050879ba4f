// Release manifests (interfaces.md §4) and the frozen release that a request is priced and routed by.
import type { Capabilities } from "./capabilities.ts";
import type { Tier } from "./gateway-object.ts";
import type { Price, PublishedPrice } from "./price.ts";

export type TokenizerName = "o200k_base" | "cl100k_base" | "bytes";
/** The states of a route, from nearest to serving (interfaces.md §4). */
export const ROUTE_STATES = ["live", "unhealthy", "stale", "disabled"] as const;
export type RouteState = (typeof ROUTE_STATES)[number];

/** A valid manifest with its defaults filled in. Wire names; the rules are in `releases/manifest.ts`. */
export interface Manifest {
  model: string;
  provider: string;
  upstream_model: string;
  region: string;
  route: string;
  version: number;
  tier: Tier;
  requires_paid: boolean;
  context_window: number;
  max_output_tokens: number;
  default_output_tokens: number;
  pricing: { currency: "USD" } & PublishedPrice;
  reasoning?: { modes: string[]; default: string };
  tokenizer: TokenizerName;
  capabilities: Capabilities;
  image_tokens_max?: number;
  file_tokens_max?: number;
  file_pages_max?: number;
  remote_images: boolean;
  defaults: { temperature?: number };
  priority: number;
  weight: number;
}

/** One published, signature-checked release of a route. Immutable; `digest` identifies it in the ledger. */
export interface Release {
  /** SHA-256 of the JWS, lower-case hex. */
  digest: string;
  route: string;
  version: number;
  model: string;
  provider: string;
  upstreamModel: string;
  region: string;
  tier: Tier;
  requiresPaid: boolean;
  contextWindow: number;
  maxOutputTokens: number;
  defaultOutputTokens: number;
  price: Price;
  /** The manifest's own decimal strings, shown as published. */
  publishedPrice: PublishedPrice;
  reasoning: { modes: string[]; default: string } | null;
  tokenizer: TokenizerName;
  capabilities: Capabilities;
  /** Flat maximum of tokens for one image; present if `capabilities.images`. */
  imageTokensMax: number | null;
  /** Flat maximum of tokens for one file, and of its pages; present if `capabilities.files`. */
  fileTokensMax: number | null;
  filePagesMax: number | null;
  /** Whether `https:` image URLs may be passed to the upstream. */
  remoteImages: boolean;
  defaults: { temperature?: number };
  priority: number;
  weight: number;
  issuedAtMs: number;
  expiresAtMs: number;
  signedBy: string;
}

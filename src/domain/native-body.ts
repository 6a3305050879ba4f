// A request in a shape that some upstreams speak themselves. There it is forwarded as its caller wrote it, order and unknown
// members included; to all others its translation is sent (surfaces.md §4).
import type { JsonObject } from "./read-value.ts";
import type { Refusal } from "./refusals.ts";

export type NativeShape = "anthropic-messages" | "openai-responses" | "openai-embeddings";

export interface NativeBody {
  readonly shape: NativeShape;
  /** As decoded, never changed. The provider sets its own members (model, maximum, identifiers) on a copy. */
  readonly body: JsonObject;
  /** Headers of the shape that are forwarded, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Thrown if the request would have to be translated: refuses the first thing that no other shape can express. */
  readonly only: Refusal | null;
  /** Names of the caller's fields that a translation leaves out. */
  readonly dropped?: readonly string[];
}

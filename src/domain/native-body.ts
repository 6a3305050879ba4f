// A request in the very shape that some upstreams speak themselves: there it goes through as its caller wrote it, order
// and unknown members included; everywhere else its translation is sent (surfaces.md §4).
import type { JsonObject } from "./read-value.ts";
import type { Refusal } from "./refusals.ts";

export type NativeShape = "anthropic-messages" | "openai-responses" | "openai-embeddings";

export interface NativeBody {
  readonly shape: NativeShape;
  /** As decoded, never changed. What the provider sets itself — model, maximum, identifiers — it sets on a copy. */
  readonly body: JsonObject;
  /** Headers of the shape that go along, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** What is thrown where it would have to be translated: of the first thing that no other shape has a word for. */
  readonly only: Refusal | null;
  /** Names of the caller's fields that a translation leaves out. */
  readonly dropped?: readonly string[];
}

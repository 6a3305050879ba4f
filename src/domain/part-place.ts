// Where an image or a file is in its caller's body: its message has another place there than among the neutral ones, and its bytes
// have another name (wire.md §1). Refusals name the caller's place.
import type { ContentPart } from "./chat-request.ts";
import type { Place } from "./read-value.ts";

type Attachment = Extract<ContentPart, { type: "image_url" | "file" }>;
type At = NonNullable<Place>;

export interface PartPlace {
  part: At;
  /** Place of its bytes, or of its URL. */
  data: At;
}

const PLACES = new WeakMap<Attachment, PartPlace>();

/** Returns the part itself and records its place. */
export function placed<Part extends Attachment>(part: Part, place: PartPlace): Part {
  PLACES.set(part, place);
  return part;
}

/** Where its caller wrote it; if not recorded, where it is among the messages, in terms of a chat completion. */
export function partPlaceOf(part: Attachment, among: At): PartPlace {
  const [outer, inner] = part.type === "file" ? ["file", "file_data"] : ["image_url", "url"];
  return PLACES.get(part) ?? { part: among, data: { parent: { parent: among, step: outer }, step: inner } };
}

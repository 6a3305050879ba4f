// Where an image or a file stands in the body of its caller: its message is another there than among the neutral ones, and its
// bytes have another name (wire.md §1). Whoever refuses one says the caller's.
import type { ContentPart } from "./chat-request.ts";
import type { Place } from "./read-value.ts";

type Attachment = Extract<ContentPart, { type: "image_url" | "file" }>;
type At = NonNullable<Place>;

export interface PartPlace {
  part: At;
  /** Of its bytes, or of its address. */
  data: At;
}

const PLACES = new WeakMap<Attachment, PartPlace>();

/** The part itself, whose place is known from here on. */
export function placed<Part extends Attachment>(part: Part, place: PartPlace): Part {
  PLACES.set(part, place);
  return part;
}

/** Where its caller wrote it; else where it is among the messages, in the words of a chat completion. */
export function partPlaceOf(part: Attachment, among: At): PartPlace {
  const [outer, inner] = part.type === "file" ? ["file", "file_data"] : ["image_url", "url"];
  return PLACES.get(part) ?? { part: among, data: { parent: { parent: among, step: outer }, step: inner } };
}

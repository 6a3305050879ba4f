// The citations of one choice, in OpenAI's shape, however they come: spread over many chunks, repeated with each, or
// whole (wire.md §3.1). Clients check this shape strictly, so anything else is dropped. Bounded; nobody pays for
// them.
import { isJsonObject } from "../../domain/read-value.ts";
import type { UrlCitation } from "../provider.ts";

/** More citations of one choice are dropped: they only decorate the answer, and are no reason to break it. */
export const ANNOTATIONS_MAX = 256;
/** The bound on all their addresses and titles together, in UTF-16 units. */
export const ANNOTATION_CHARACTERS_MAX = 65_536;

/** The citations of one choice. */
export class Annotations {
  /** By its text, since some upstreams repeat all of them on every chunk. */
  private readonly found = new Map<string, UrlCitation>();
  private characters = 0;

  get list(): UrlCitation[] {
    return [...this.found.values()];
  }

  /** Adds every well-formed citation that is new and fits. */
  read(annotations: unknown[]): void {
    for (const annotation of annotations) {
      if (this.found.size >= ANNOTATIONS_MAX) return;
      const citation = citationOf(annotation);
      if (citation !== null) this.add(citation);
    }
  }

  private add(citation: UrlCitation): void {
    const { url, title } = citation.url_citation;
    const size = url.length + title.length;
    if (this.characters + size > ANNOTATION_CHARACTERS_MAX) return;
    const key = JSON.stringify(citation);
    if (this.found.has(key)) return;
    this.found.set(key, citation);
    this.characters += size;
  }
}

/** Returns null without an address; a missing title or place is "" or 0, since clients insist on all four. */
function citationOf(annotation: unknown): UrlCitation | null {
  if (!isJsonObject(annotation) || annotation["type"] !== "url_citation") return null;
  const told = annotation["url_citation"];
  if (!isJsonObject(told)) return null;
  const { url, title, start_index: start, end_index: end } = told;
  if (typeof url !== "string" || url === "") return null;
  return {
    type: "url_citation",
    url_citation: {
      start_index: place(start),
      end_index: place(end),
      url,
      title: typeof title === "string" ? title : "",
    },
  };
}

const place = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;

// A page that an answer cites, in the vendor's form.
import type { UrlCitation } from "../../../providers/provider.ts";

const CITED_CHARACTERS_MAX = 150;

/** `text`: the text of the answer. */
export function citationOf({ url_citation: page }: UrlCitation, text: string): object {
  const { url, title, start_index: from, end_index: to } = page;
  const cited_text = text.slice(from, Math.min(to, from + CITED_CHARACTERS_MAX));
  return { type: "web_search_result_location", cited_text, url, title, encrypted_index: "" };
}

// What one upstream call says to the model, as the quote and the exact count see it (money.md §6). Made from the body
// that goes out, never from the caller's fields: what is sent and what is priced cannot differ.

/** Bound in tokens = bytes + 8 per message + 16 per tool + 16 per request + images and files × the release's maximum of each. */
export interface PromptSize {
  /** UTF-8 bytes of the whole outgoing body without the data of inline images and files. */
  bytes: number;
  messages: number;
  tools: number;
  images: number;
  files: number;
}

/** The size bounds the tokens without counting them; `text` is read only where an exact count is asked for. */
export interface Prompt {
  size: PromptSize;
  /** The same text for an exact count: as the model reads it, without JSON's escapes, and no longer than `size.bytes`. */
  text(): string;
}

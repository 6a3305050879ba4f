// What one upstream call says to the model, for the quote and the exact count (money.md §6). Made from the outgoing body, never
// from the caller's fields, so that what is sent and what is priced cannot differ.

/**
 * The bound in tokens = bytes + 8 per message + 16 per tool + 16 per request + images and files × the release's maximum of each.
 */
export interface PromptSize {
  /** UTF-8 bytes of the whole outgoing body without the data of inline images and files. */
  bytes: number;
  messages: number;
  tools: number;
  images: number;
  files: number;
}

/** `size` bounds the tokens without counting them; `text` is read only for an exact count. */
export interface Prompt {
  size: PromptSize;
  /**
   * The same text for an exact count: as the model reads it, without JSON escapes, and no longer than `size.bytes`. The
   * conversation comes last: what is in front of its new end was counted with the call before (`pricing/counted-chunks.ts`).
   */
  text(): string;
}

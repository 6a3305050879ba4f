/** The limit of one answer that is not streamed; a longer one is not read to its end. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

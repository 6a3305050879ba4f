/** Of one answer that is not streamed: what is longer is not read to its end. */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

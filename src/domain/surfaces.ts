// The names of the surfaces in records, filters and metrics; their paths and words are in their formats (surfaces.md).
export const SURFACES = ["chat.completions", "responses", "messages", "embeddings", "completions"] as const;

/** The surfaces for conversations with a model, which the playground uses. */
export const SPOKEN_SURFACES = ["chat.completions", "responses", "messages"] as const;
export type SpokenSurface = (typeof SPOKEN_SURFACES)[number];

/** The only surface before there were others: rows of that time name none. */
export const FIRST_SURFACE = "chat.completions";

/** The surface in a row that counts requests to several. */
export const SEVERAL_SURFACES = "";

/** The surface of a record; null for several. */
export const surfaceOfCell = (cell: string | null): string | null =>
  cell === SEVERAL_SURFACES ? null : (cell ?? FIRST_SURFACE);

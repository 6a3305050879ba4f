// What the surfaces are called in records, filters and metrics; their paths and words are their formats' (surfaces.md).
export const SURFACES = ["chat.completions", "responses", "messages", "embeddings", "completions"] as const;

/** Those on which one talks with a model, which the playground speaks. */
export const SPOKEN_SURFACES = ["chat.completions", "responses", "messages"] as const;
export type SpokenSurface = (typeof SPOKEN_SURFACES)[number];

/** The only one before there were others: rows of that time name none. */
export const FIRST_SURFACE = "chat.completions";

/** In a row that tells of requests to several. */
export const SEVERAL_SURFACES = "";

/** As a record names it; null for several. */
export const surfaceOfCell = (cell: string | null): string | null =>
  cell === SEVERAL_SURFACES ? null : (cell ?? FIRST_SURFACE);

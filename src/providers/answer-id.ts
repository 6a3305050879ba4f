// The id that an upstream gives to its answer, as it is kept in records.

const CHARACTERS_MAX = 200;

/** Cut to 200 characters; null for what is none. */
export const answerIdOf = (told: unknown): string | null =>
  typeof told === "string" && told !== "" ? told.slice(0, CHARACTERS_MAX) : null;

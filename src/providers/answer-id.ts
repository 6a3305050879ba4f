// The id that an upstream gives to its answer, as records keep it.

const CHARACTERS_MAX = 200;

/** Returns the id cut to 200 characters, or null if it is not a non-empty string. */
export const answerIdOf = (told: unknown): string | null =>
  typeof told === "string" && told !== "" ? told.slice(0, CHARACTERS_MAX) : null;

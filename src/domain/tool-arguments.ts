/** The arguments of a tool call that was given none: clients and providers parse them, so they are never empty text. */
export const NO_ARGUMENTS = "{}";

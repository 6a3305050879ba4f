// What an error says, for people: some have no words but those of their causes (a host with several addresses).

/** Of whatever was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "")
    return error.errors.map((cause: unknown) => messageOf(cause)).join("; ");
  return error instanceof Error ? error.message : String(error);
}

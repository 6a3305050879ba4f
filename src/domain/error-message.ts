// The message of an error, for people. Some errors have no message but those of their causes (a host with several addresses).

/** Accepts any thrown value. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "")
    return error.errors.map((cause: unknown) => messageOf(cause)).join("; ");
  return error instanceof Error ? error.message : String(error);
}

// The reason why a command failed. Every problem ends with the next step to take.

export class Problem extends Error {
  constructor(
    message: string,
    readonly next: string,
    /** The gateway's own error document, if it sent one. */
    readonly document: string | null = null,
  ) {
    super(message);
    this.name = "Problem";
  }

  /** One JSON document for `--json`. */
  json(): string {
    return this.document ?? JSON.stringify({ error: { message: this.message, next: this.next } });
  }
}

/** The arguments are wrong for any gateway: nothing was called, and the exit code is 2. */
export class WrongUsage extends Problem {
  override json(): string {
    return JSON.stringify({ error: { message: this.message, code: "wrong_usage", next: this.next } });
  }
}

/** Turns an error of the gateway's rooms that has a next step into a `Problem`; returns any other unchanged. */
export const asProblem = (error: unknown): unknown =>
  error instanceof Error && "next" in error && typeof error.next === "string" && !(error instanceof Problem)
    ? new Problem(error.message, error.next)
    : error;

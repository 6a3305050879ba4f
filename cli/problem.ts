// Why a command did not do what it was told. Every problem ends with the next step to take.

export class Problem extends Error {
  constructor(
    message: string,
    readonly next: string,
    /** The gateway's own error document, where it sent one. */
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

/** What was typed cannot be, whatever gateway there is: nothing was asked, and the exit code is 2. */
export class WrongUsage extends Problem {
  override json(): string {
    return JSON.stringify({ error: { message: this.message, code: "wrong_usage", next: this.next } });
  }
}

/** Errors of rooms that say what to do, as a problem; any other as it is. */
export const asProblem = (error: unknown): unknown =>
  error instanceof Error && "next" in error && typeof error.next === "string" && !(error instanceof Problem)
    ? new Problem(error.message, error.next)
    : error;

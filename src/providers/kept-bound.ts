// Bounds how much of a model's thoughts is kept for the tool calls that follow, and handed over with them.

/** The bounds for one answer. Exceeding one is no failure: the excess is left out. */
export class KeptBound {
  /** Characters since the last call. */
  private since = 0;
  /** Characters that were handed over with calls so far. */
  private given = 0;

  /** Both in characters: `each` bounds what precedes one call, `all` what is handed over with all calls of an answer. */
  constructor(
    private readonly each: number,
    private readonly all: number,
  ) {}

  /** Returns the text, or "" if it exceeds the bound of its call; nothing is then handed over with that call. */
  keep(text: string): string {
    this.since += text.length;
    return this.since > this.each ? "" : text;
  }

  /** Begins a call. Returns true if what was kept since the last call is handed over with it. */
  begin(): boolean {
    const given = this.given + this.since;
    const fits = this.since <= this.each && given <= this.all;
    if (fits) this.given = given;
    this.since = 0;
    return fits;
  }
}

// How much of what a model thought is kept for the calls of tools behind it, and handed over with them.

/** Of one answer. Beyond a bound nothing fails: what is too much is left out. */
export class KeptBound {
  /** Characters since the call before. */
  private since = 0;
  /** Of what left with calls so far. */
  private given = 0;

  /** Characters: `each` of what stands before one call, `all` of what leaves with the calls of an answer. */
  constructor(
    private readonly each: number,
    private readonly all: number,
  ) {}

  /** The text; "" where it is beyond the bound of its call, with which nothing leaves then. */
  keep(text: string): string {
    this.since += text.length;
    return this.since > this.each ? "" : text;
  }

  /** A call begins: whether what was kept since the one before leaves with it. */
  begin(): boolean {
    const given = this.given + this.since;
    const fits = this.since <= this.each && given <= this.all;
    if (fits) this.given = given;
    this.since = 0;
    return fits;
  }
}

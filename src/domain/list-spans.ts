// Where the elements of a body's lists are in its bytes, collected while it is scanned (`json-outline.ts`), and which of
// them are written as we would print them.

/** The bytes of one element. */
export interface ByteSpan {
  from: number;
  to: number;
}

/** Bounds the memory that places take; a list of more is printed. */
const ELEMENTS_MAX = 10_000;

/** Collects the elements of lists that are members of the outermost object. */
export class ListSpans {
  /**
   * By where the list's name begins: an element each, or null for one that `JSON.stringify` may print otherwise: with blanks
   * outside strings, numbers other than short integers, or names that begin with a digit.
   */
  readonly lists = new Map<number, (ByteSpan | null)[]>();
  /** Of all elements that are written as we would print them. */
  plainBytes = 0;
  private list: (ByteSpan | null)[] | null = null;
  private from = 0;
  private plain = true;
  private elements = 0;

  open(name: number, at: number): void {
    if (this.elements > ELEMENTS_MAX) return;
    this.list = [];
    this.lists.set(name, this.list);
    this.from = at + 1;
    this.plain = true;
  }

  next(at: number): void {
    if (this.list === null) return;
    this.list.push(this.plain ? { from: this.from, to: at } : null);
    if (this.plain) this.plainBytes += at - this.from;
    this.from = at + 1;
    this.plain = true;
    if (++this.elements > ELEMENTS_MAX) this.giveUp();
  }

  close(at: number): void {
    if (this.list === null) return;
    if (at > this.from) this.next(at);
    this.list = null;
  }

  /** What was just read is not as we would print it. */
  rough(): void {
    this.plain = false;
  }

  private giveUp(): void {
    this.lists.clear();
    this.list = null;
    this.plainBytes = 0;
  }
}

// Events of a Responses stream that came twice. Each has its place in it; where those are dense, the same place with the same words is the
// same event. Who counts otherwise, or not at all, may say the same word twice and mean it.

const PLACE = '"sequence_number":';

/** One per stream: it remembers the event before and how many there were. */
export class RepeatedEvents {
  private last = "";
  private seen = 0;

  /** Whether this is the event before it once more; notes it if not. */
  has(data: string): boolean {
    if (data === this.last && placeIn(data) === this.seen - 1) return true;
    this.last = data;
    this.seen += 1;
    return false;
  }
}

function placeIn(data: string): number {
  const at = data.indexOf(PLACE);
  return at === -1 ? Number.NaN : Number.parseInt(data.slice(at + PLACE.length, at + PLACE.length + 12), 10);
}

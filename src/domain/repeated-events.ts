// Detects events of a Responses stream that arrive twice. Events are numbered; if the numbers are dense, the same number with the
// same text is the same event. A stream that numbers otherwise, or not at all, may repeat a text on purpose.

const PLACE = '"sequence_number":';

/** One per stream: remembers the previous event and the number of events. */
export class RepeatedEvents {
  private last = "";
  private seen = 0;

  /** Whether this event repeats the previous one; records it if not. */
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

// The events of one Responses stream (surfaces.md §2): each has its name, its place in the stream, counted from 0 without a gap,
// and in a keyed stream the number from which a reader resumes.
import { exactObject } from "../../../domain/exact-json.ts";
import type { JsonObject } from "../../../domain/read-value.ts";
import { wireJson, wireLine } from "../../../domain/wire-json.ts";
import type { NativeEvent } from "../../../providers/provider.ts";
import { printNamedEvent } from "../../event-stream.ts";

/** Prints the events of one stream in order. */
export class EventLine {
  /** `numbered`: each event has the number from which a reader resumes. `place`: of the next event. */
  constructor(
    private readonly numbered: boolean,
    private place = 0,
  ) {}

  /** For a keyed stream that another printer began: continues at this place. */
  static resumedAt(place: number): EventLine {
    return new EventLine(true, place);
  }

  /** For events that are not sent. */
  static unsent(): EventLine {
    return new EventLine(false);
  }

  /** `members` is JSON text, without its braces. */
  print(name: string, members: string): string {
    return this.send(name, `{"type":"${name}","sequence_number":${this.place},${members}}`);
  }

  /** An upstream's own event, with our place in place of its own, and with these members where they differ. */
  pass({ event, data, told }: NativeEvent, members: JsonObject): string {
    const place = { sequence_number: this.place };
    for (const name in members)
      if (told[name] !== members[name])
        return this.send(event, wireJson({ ...exactObject(data, told), ...members, ...place }));
    return this.send(event, wireLine(this.placed(data, told)));
  }

  private placed(data: string, told: JsonObject): string {
    const { place } = this;
    if (told.sequence_number === place) return data;
    if (!("sequence_number" in told)) return `${data.slice(0, data.lastIndexOf("}"))},${MEMBER}${place}}`;
    // The only such member is the event's own.
    if (data.split(MEMBERS, 3).length === 2 && PLACE.test(data))
      return data.replace(PLACE, `${MEMBER}${place}`);
    return JSON.stringify({ ...exactObject(data, told), sequence_number: place });
  }

  private send(name: string, data: string): string {
    this.place += 1;
    return printNamedEvent(name, data, this.numbered ? this.place : null);
  }
}

const MEMBER = '"sequence_number":';
/** In JSON text this cannot occur inside a string, where quotes are escaped. */
const MEMBERS = /"sequence_number"\s*:/;
const PLACE = /"sequence_number"\s*:\s*-?[\d.]+(?=\s*[,}])/;

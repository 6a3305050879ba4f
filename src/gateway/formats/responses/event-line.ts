// The events of one Responses stream (surfaces.md §2): each has its name, its place in the stream, counted from 0 without a gap, and in a
// keyed stream the number by which a reader goes on after it.
import { wireLine } from "../../../domain/wire-json.ts";
import { printNamedEvent } from "../../event-stream.ts";

export class EventLine {
  /** `place`: of the next one. */
  constructor(
    private readonly numbered: boolean,
    private place = 0,
  ) {}

  /** `members` is JSON text, without its braces. */
  print(name: string, members: string): string {
    return this.send(name, `{"type":"${name}","sequence_number":${this.place},${members}}`);
  }

  /** An upstream's own event, with its place here in the place of its own. */
  pass(name: string, data: string): string {
    return this.send(name, wireLine(placed(data, this.place)));
  }

  private send(name: string, data: string): string {
    this.place += 1;
    return printNamedEvent(name, data, this.numbered ? this.place : null);
  }
}

const MEMBER = '"sequence_number":';
/** In a JSON text no such word stands inside a string: the quotes of those are escaped. */
const PLACE = /"sequence_number"\s*:\s*-?[\d.]+/;

function placed(data: string, place: number): string {
  const at = data.indexOf(MEMBER);
  const told = at === -1 ? Number.NaN : Number.parseInt(data.slice(at + MEMBER.length, at + 32), 10);
  if (told === place) return data;
  if (PLACE.test(data)) return data.replace(PLACE, `${MEMBER}${place}`);
  return `${data.slice(0, data.lastIndexOf("}"))},${MEMBER}${place}}`;
}

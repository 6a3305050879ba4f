// A stream of an upstream of this very shape: what it has said about its response, and what waits for the settlement.
import type { JsonObject } from "../../../domain/read-value.ts";
import { RepeatedEvents } from "../../../domain/repeated-events.ts";
import type { EventLine } from "./event-line.ts";
import { NativeOutput } from "./native-output.ts";
import type { ResponseEnd } from "./response-object.ts";

export class NativeStream {
  readonly output: NativeOutput;
  readonly repeats = new RepeatedEvents();
  /** Beginning events that were sent. */
  readonly said = new Set<string>();
  /** The response as it was first sent. */
  told: JsonObject = {};
  /** The response as it was last sent, which waits. */
  last: JsonObject | null = null;

  constructor(requestId: string) {
    this.output = new NativeOutput(requestId);
  }

  /** The events that end its output. */
  close(line: EventLine, status: "completed" | "incomplete"): string {
    const told = this.last === null ? "" : this.output.tell(this.last.output, line);
    return told + this.output.closeAll(line, status);
  }

  /** Its response, as it was last sent, or of one that did not end by itself. */
  ended({ status, error, reason }: ResponseEnd): JsonObject {
    if (this.last !== null) return { ...this.last, output: this.output.whole(this.last.output) };
    return {
      ...this.told,
      status,
      error: error === undefined ? null : JSON.parse(error),
      incomplete_details: reason === undefined ? null : { reason },
      output: this.output.whole(),
    };
  }
}

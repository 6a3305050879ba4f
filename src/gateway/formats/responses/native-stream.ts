// A stream of an upstream of this very shape: what it has said of its response, and what waits for the settlement.
import type { JsonObject } from "../../../domain/read-value.ts";
import { RepeatedEvents } from "../../../domain/repeated-events.ts";
import { NativeOutput } from "./native-output.ts";
import type { ResponseEnd } from "./response-object.ts";

export class NativeStream {
  readonly output = new NativeOutput();
  readonly repeats = new RepeatedEvents();
  /** Beginnings that were said. */
  readonly said = new Set<string>();
  /** The response as it was told first. */
  told: JsonObject = {};
  /** As it was told last, which waits. */
  last: JsonObject | null = null;

  /** The response of a stream that did not end by itself. */
  cut({ status, error, reason }: ResponseEnd): JsonObject {
    return {
      ...this.told,
      object: "response",
      status,
      error: error === undefined ? null : JSON.parse(error),
      incomplete_details: reason === undefined ? null : { reason },
      output: this.output.whole(),
    };
  }
}

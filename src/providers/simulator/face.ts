// A face of the simulator: how one wire shape reads a call and prints the answer. What is answered, when, with which
// faults and on whose bill is decided once for all of them (`answer.ts`, `server.ts`, `stream.ts`).
import type { IncomingHttpHeaders } from "node:http";
import type { SimulatedAnswer } from "./answer.ts";
import type { Asked } from "./asked.ts";
import type { Behaviour } from "./behaviour.ts";

export interface Face {
  /** True if a `POST` to this path is a call in this shape. */
  serves(path: string): boolean;
  /** Reads the body of a call, as strictly as the vendor does: throws `FaceRefusal` for what the vendor would reject. */
  hear(body: unknown, path: string, headers: IncomingHttpHeaders): Heard;
  /** Returns the body of an error response. */
  refusal(told: { status: number; code: string | null; message: string }): unknown;
  /** The content type of its streams. */
  contentType: string;
}

/** One call as the model reads it, and its answer as the caller gets it. */
export interface Heard {
  asked: Asked;
  /** For a call that is not answered with text. */
  run?(): Promise<SimulatedAnswer>;
  /** Returns the body of a whole answer. */
  whole(answer: SimulatedAnswer, behaviour: Behaviour): unknown;
  /** An error in place of an answer, with status 200. */
  failed: unknown;
  stream(answer: SimulatedAnswer, behaviour: Behaviour): StreamWords;
}

export interface Said {
  bytes: string | Uint8Array;
  /** What it adds to the bill. */
  tokens: number;
}

/** A stream without its faults. */
export interface StreamWords {
  /** The events up to and including the finish, which is omitted if `no_finish` is ordered. */
  events: Iterable<Said>;
  /** What follows the finish; empty if the stream ends with its connection. */
  end: string | Uint8Array;
  error: string | Uint8Array;
  /** An event after the end. */
  late: string | Uint8Array;
}

/** The vendor would reject the call; nothing runs. */
export class FaceRefusal extends Error {
  constructor(
    message: string,
    readonly about: { status?: number; code?: string; model?: string } = {},
  ) {
    super(message);
    this.name = "FaceRefusal";
  }
}

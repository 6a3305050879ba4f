// A face of the simulator: how one wire shape reads a call and says the answer. What is answered, when, with which faults
// and on whose bill is decided once for all of them (`answer.ts`, `server.ts`, `stream.ts`).
import type { IncomingHttpHeaders } from "node:http";
import type { SimulatedAnswer } from "./answer.ts";
import type { Asked } from "./asked.ts";
import type { Behaviour } from "./behaviour.ts";

export interface Face {
  /** Whether a `POST` to this path is a call in this shape. */
  serves(path: string): boolean;
  /** Reads the body of a call, as strictly as the vendor does: throws `FaceRefusal` for what that would refuse. */
  hear(body: unknown, path: string, headers: IncomingHttpHeaders): Heard;
  /** The body of a reply that refuses. */
  refusal(told: { status: number; code: string | null; message: string }): unknown;
  /** Of its streams. */
  contentType: string;
}

/** One call as the model hears it, and its answer as the caller will. */
export interface Heard {
  asked: Asked;
  /** Where it is no text that is answered with. */
  run?(): Promise<SimulatedAnswer>;
  /** The body of a whole answer. */
  whole(answer: SimulatedAnswer, behaviour: Behaviour): unknown;
  /** An error where an answer should stand, with status 200. */
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
  /** Up to and including the finish, which is left out where `no_finish` is ordered. */
  events: Iterable<Said>;
  /** What follows the finish; nothing where the end of the connection is the end. */
  end: string | Uint8Array;
  error: string | Uint8Array;
  /** A word after the end. */
  late: string | Uint8Array;
}

/** The vendor would not take the call; nothing runs. */
export class FaceRefusal extends Error {
  constructor(
    message: string,
    readonly about: { status?: number; code?: string; model?: string } = {},
  ) {
    super(message);
    this.name = "FaceRefusal";
  }
}

// A call that cannot be read whole is no reason to tell of it in part: somebody would execute it.
import { Failure } from "./failure.ts";

/** For arguments of another type than an upstream's shape has. Those that are not there at all are none, and `{}`. */
export const unreadableArguments = (): Failure =>
  new Failure("broken", "unknown", "the upstream called a tool with arguments that are none");

/** For a call whose tool has no name. */
export const namelessCall = (): Failure =>
  new Failure("broken", "unknown", "the upstream called a tool without naming it");

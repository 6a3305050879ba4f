// A tool call that cannot be read whole is never passed on in part: a client would execute it.
import { Failure } from "./failure.ts";

/** The failure for arguments of a type that the upstream's shape does not have. (Missing arguments are read as `{}`.) */
export const unreadableArguments = (): Failure =>
  new Failure("broken", "unknown", "the upstream called a tool with arguments that are not an object");

/** The failure for a call whose tool has no name. */
export const namelessCall = (): Failure =>
  new Failure("broken", "unknown", "the upstream called a tool without naming it");

// Arguments of a call that cannot be read are no reason to make the call without them: somebody would execute it.
import { Failure } from "./failure.ts";

/** For arguments of another type than an upstream's shape has. Those that are not there at all are none, and `{}`. */
export const unreadableArguments = (): Failure =>
  new Failure("broken", "unknown", "the upstream called a tool with arguments that are none");

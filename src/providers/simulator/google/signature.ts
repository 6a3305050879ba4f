// Thought signatures of the simulator: bound to the model, and to the call on which they stood.
import { createHash } from "node:crypto";

export const geminiSeal = (
  model: string,
  call: { name: string; args?: Record<string, unknown> | undefined },
): string =>
  createHash("sha256")
    .update(JSON.stringify([model, call.name, call.args ?? {}]))
    .digest("base64");

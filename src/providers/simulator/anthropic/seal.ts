// The simulator's signature of a thought: only what it thought itself comes back to it.
import { createHmac } from "node:crypto";

export const thoughtSeal = (thought: string): string =>
  createHmac("sha256", "the simulator thought this").update(thought).digest("base64");

// The simulator's signature of a thought: it accepts only its own thoughts back.
import { createHmac } from "node:crypto";

export const thoughtSeal = (thought: string): string =>
  createHmac("sha256", "the simulator thought this").update(thought).digest("base64");

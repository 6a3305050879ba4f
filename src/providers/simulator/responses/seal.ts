// The simulator's seal of a thought: only what it thought itself comes back to it.
import { createHmac } from "node:crypto";

export const reasoningSeal = (id: string): string =>
  createHmac("sha256", "the simulator sealed this").update(id).digest("base64");

// The simulator's seal of a thought: it accepts only its own thoughts back, with the id or, as the AI SDK sends them,
// without.
import { createHmac } from "node:crypto";

export const reasoningSeal = (id: string): string => `${digestOf(id)}${Buffer.from(id).toString("base64")}`;

/** True if a thought was sealed here, under this id if it has one. */
export function isReasoningSeal(sealed: string, id: string | undefined): boolean {
  const sealedId = Buffer.from(sealed.slice(DIGEST_CHARACTERS), "base64").toString();
  return sealed === reasoningSeal(sealedId) && (id ?? sealedId) === sealedId;
}

const digestOf = (id: string): string =>
  createHmac("sha256", "the simulator sealed this").update(id).digest("base64");
const DIGEST_CHARACTERS = digestOf("").length;

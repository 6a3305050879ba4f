// Thought signatures of the simulator, bound to the model and to the call that they came on. A client may complete
// the arguments of a call, as Claude Code does with defaults; it may not change them.
import { createHash } from "node:crypto";

interface SignedCall {
  name: string;
  args?: Record<string, unknown> | undefined;
}

export const geminiSeal = (model: string, { name, args = {} }: SignedCall): string => {
  const told = Buffer.from(JSON.stringify(args)).toString("base64");
  return `${digestOf([model, name, told])}${told}`;
};

/** True if the signature belongs to this call. */
export function isSealOf(signature: string, model: string, { name, args = {} }: SignedCall): boolean {
  const [digest, told] = [signature.slice(0, DIGEST_CHARACTERS), signature.slice(DIGEST_CHARACTERS)];
  if (digest !== digestOf([model, name, told])) return false;
  const given = JSON.parse(Buffer.from(told, "base64").toString()) as Record<string, unknown>;
  return Object.entries(given).every(([key, value]) => JSON.stringify(args[key]) === JSON.stringify(value));
}

const digestOf = (parts: string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64");
const DIGEST_CHARACTERS = digestOf([]).length;

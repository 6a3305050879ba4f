// Codes of an authenticator app: RFC 6238, six digits, 30 seconds.
import { createHmac } from "node:crypto";

export const STEP_MS = 30_000;

/** The code for the secret in an otpauth URI. */
export function codeOf(uri: string, atMs = Date.now()): string {
  const secret = base32(new URL(uri).searchParams.get("secret") ?? "");
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(atMs / STEP_MS)));
  const digest = createHmac("sha1", secret).update(counter).digest();
  const at = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(at) & 0x7fff_ffff) % 1_000_000).padStart(6, "0");
}

/** The code of the next 30 seconds; a clock may run ahead by one step. */
export const nextCodeOf = (uri: string): string => codeOf(uri, Date.now() + STEP_MS);

function base32(text: string): Buffer {
  const bits = text
    .split("")
    .map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"))
    .join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

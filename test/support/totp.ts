// An authenticator app: the code that an `otpauth:` address shows at a time (RFC 6238).
import { createHmac } from "node:crypto";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const STEP_MS = 30_000;

export function totp(address: string, nowMs = Date.now()): string {
  const secret = bytesOf(new URL(address).searchParams.get("secret") ?? "");
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(nowMs / STEP_MS)));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 0xf) & 0x7fff_ffff;
  return String(number % 1_000_000).padStart(6, "0");
}

/** Base32, as authenticator apps take secrets. */
function bytesOf(text: string): Buffer {
  const bits = Array.from(text.replace(/=+$/, ""))
    .map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, "0"))
    .join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

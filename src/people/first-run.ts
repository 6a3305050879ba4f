// The token of the first-run link: its expiry, signed with the secret of the data directory. Every worker of
// the store can verify it without storing it. The store enforces single use, because it creates only the
// first account.
import { HOUR_MS } from "../domain/durations.ts";
import { createHmac, timingSafeEqual } from "node:crypto";

const OPEN_MS = HOUR_MS;

/** A token that expires in an hour. */
export function firstRunToken(secret: string, nowMs: number): string {
  const untilMs = String(nowMs + OPEN_MS);
  return `${untilMs}.${signed(secret, untilMs)}`;
}

/**
 * True if the token was signed here and has not expired; compared in constant time. Does not tell whether it
 * was used.
 */
export function isFirstRunToken(token: string, secret: string, nowMs: number): boolean {
  const [untilMs = "", signature = ""] = token.split(".");
  if (!/^\d{1,15}$/.test(untilMs) || Number(untilMs) <= nowMs) return false;
  const [given, wanted] = [Buffer.from(signature), Buffer.from(signed(secret, untilMs))];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

const signed = (secret: string, untilMs: string): string =>
  createHmac("sha256", secret).update(`first run ${untilMs}`).digest("base64url");

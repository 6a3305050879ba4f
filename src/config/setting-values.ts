// The kinds of values that settings have in common, each with what is said where one is not of its kind.
import { z } from "zod";
import { parseDurationMs } from "./duration.ts";

export const nonEmpty = z.string().min(1, "must not be empty");
export const upToMilliseconds = (max: number) => z.int().min(1).max(max);
export const upTo = (max: number) => z.int().min(1).max(max);
export const HOUR_MS = 3_600_000;

export const duration = z
  .string()
  .refine(
    (value) => parseDurationMs(value) !== null,
    "must be a whole number and a unit, like 60s, 24h or 30d",
  )
  .meta({ examples: ["60s", "24h", "30d"] });

export const webUrl = nonEmpty.refine(
  isWebUrl,
  "must be an http:// or https:// address without credentials, query or fragment",
);

function isWebUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || !["http:", "https:"].includes(url.protocol)) return false;
  return url.username === "" && url.password === "" && url.search === "" && url.hash === "";
}

export function isOrigin(value: string): boolean {
  return isWebUrl(value) && new URL(value).origin === value;
}

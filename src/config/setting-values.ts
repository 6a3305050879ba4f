// The types of values that settings share: the complaint about a value of another type, and the form the code sees.
import { z } from "zod";
import { type CamelCase, camelCase } from "../lib/camel-case.ts";
import { parseDurationMs } from "./duration.ts";

export const nonEmpty = z.string().min(1, { error: "must not be empty", abort: true });
export const upToMilliseconds = (max: number) => z.int().min(1).max(max);
export const upTo = (max: number) => z.int().min(1).max(max);

const DURATION = "must be a whole number and a unit, like 60s, 24h or 30d";
const duration = z
  .string(DURATION)
  .refine((value) => parseDurationMs(value) !== null, DURATION)
  .meta({ examples: ["60s", "24h", "30d"] });

/** What is no address reaches no further check: those that look at several settings at once parse it. */
export const webUrl = nonEmpty.refine(isWebUrl, {
  error: "must be an http:// or https:// address without credentials, query or fragment",
  abort: true,
});

function isWebUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || !["http:", "https:"].includes(url.protocol)) return false;
  return url.username === "" && url.password === "" && url.search === "" && url.hash === "";
}

export function isOrigin(value: string): boolean {
  return isWebUrl(value) && new URL(value).origin === value;
}

/** Returns what the code sees of an absent setting: null. */
export const nullIfAbsent = <Value>(value: Value | undefined): Value | null => value ?? null;

/** Returns an address to which paths can be appended; null if there is none. */
export const withoutSlash = (url: string | undefined): string | null => url?.replace(/\/+$/, "") ?? null;

type InCode<Group> = { [Name in keyof Group as CamelCase<Name & string>]: Group[Name] };

/** Renames settings to the names that the code uses: `body_bytes` becomes `bodyBytes`. */
export const inCode = <Group extends object>(group: Group): InCode<Group> =>
  Object.fromEntries(Object.entries(group).map(([name, value]) => [camelCase(name), value])) as InCode<Group>;

/** A strict group of settings, which the code sees under its own names. */
export const group = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape).transform(inCode);

/** A group of durations with their defaults: written as `body_retention: 24h`, seen as milliseconds, `bodyRetentionMs`. */
export function durations<Name extends string>(defaults: Record<Name, string>) {
  const shape = Object.entries<string>(defaults).map(
    ([name, usual]) => [name, duration.default(usual)] as const,
  );
  return z
    .strictObject(Object.fromEntries(shape))
    .transform(
      (written) =>
        Object.fromEntries(
          Object.entries(written).map(([name, text]) => [`${camelCase(name)}Ms`, parseDurationMs(text)]),
        ) as Record<`${CamelCase<Name>}Ms`, number>,
    );
}

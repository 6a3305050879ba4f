// The kinds of values that settings have in common: what is said where one is not of its kind, and what the code sees.
import { z } from "zod";
import { type CamelCase, camelCase } from "../lib/camel-case.ts";
import { parseDurationMs } from "./duration.ts";

export const nonEmpty = z.string().min(1, { error: "must not be empty", abort: true });
export const upToMilliseconds = (max: number) => z.int().min(1).max(max);
export const upTo = (max: number) => z.int().min(1).max(max);

const duration = z
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

/** What the code sees of a setting that was left out. */
export const nullIfAbsent = <Value>(value: Value | undefined): Value | null => value ?? null;

/** An address as paths are put behind it; null where there is none. */
export const withoutSlash = (url: string | undefined): string | null => url?.replace(/\/+$/, "") ?? null;

type InCode<Group> = { [Name in keyof Group as CamelCase<Name & string>]: Group[Name] };

/** Settings by the names that the code has for them: `body_bytes` is `bodyBytes`. */
export const inCode = <Group extends object>(group: Group): InCode<Group> =>
  Object.fromEntries(Object.entries(group).map(([name, value]) => [camelCase(name), value])) as InCode<Group>;

/** A group of settings, strict, which the code sees under its own names. */
export const group = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape).transform(inCode);

/** A group of durations by their defaults: written as `body_retention: 24h`, seen as milliseconds, `bodyRetentionMs`. */
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

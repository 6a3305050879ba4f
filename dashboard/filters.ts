// Keeps a page's filters in the query string, so that Back, a reload and a pasted link give the same view. Each page
// names its filters with their defaults; an invalid value falls back to the default, and the page says so.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { isMonth } from "./format/month.ts";
import { useEffect, useId, useMemo, useSyncExternalStore } from "react";

/** Parses one value of the query string. */
export type Filter<Value extends string> = (text: string | undefined) => Value;

export const text =
  (fallback = ""): Filter<string> =>
  (value) =>
    value ?? fallback;

export const oneOf =
  <const Value extends string>(allowed: readonly Value[], fallback: NoInfer<Value>): Filter<Value> =>
  (value) =>
    allowed.find((one) => one === value) ?? fallback;

/** `YYYY-MM`; empty: none. */
export const month: Filter<string> = (value) => (value !== undefined && isMonth(value) ? value : "");

type Shape = Readonly<Record<string, Filter<string>>>;
export type Filters<S extends Shape> = { [Name in keyof S]: ReturnType<S[Name]> };

/** With a function, what it makes of the address's values: of two quick clicks, each builds on the one before. */
export type SetFilters<S extends Shape> = (
  change: Partial<Filters<S>> | ((now: Filters<S>) => Partial<Filters<S>>),
  how?: { typed?: boolean },
) => void;

/**
 * Returns the page's filters, the same object until one of them changes, and a setter. Default values are left out of
 * the address. Typed text makes no history entry. The caller is rendered again only when these parameters of the
 * address change.
 */
export function useFilters<S extends Shape>(shape: S): [Filters<S>, SetFilters<S>] {
  const found: Readonly<Record<string, string>> = useSearch({
    strict: false,
    select: (search: Record<string, unknown>) =>
      Object.fromEntries(
        Object.keys(shape).flatMap((name) => {
          const value = search[name];
          return typeof value === "string" ? [[name, value] as const] : [];
        }),
      ),
    structuralSharing: true,
  });
  const filters = useMemo(() => valuesOf(shape, found), [found, shape]);
  useFallbacks(found, filters);
  return [filters, useSetFilters(shape)];
}

const valuesOf = <S extends Shape>(shape: S, found: Readonly<Record<string, string>>): Filters<S> =>
  Object.fromEntries(
    Object.entries(shape).map(([name, filter]) => [name, filter(found[name])]),
  ) as Filters<S>;

/** Invalid values of the address, by the component that reads them: a page has filters in several places. */
const fallbacks = new Map<string, Readonly<Record<string, string>>>();
const watchers = new Set<() => void>();
let fallen: Readonly<Record<string, string>> = {};

function noteFallbacks(reader: string, wrong: Readonly<Record<string, string>> | null): void {
  if (wrong === null) fallbacks.delete(reader);
  else fallbacks.set(reader, wrong);
  fallen = Object.assign({}, ...fallbacks.values()) as typeof fallen;
  for (const tell of watchers) tell();
}

function useFallbacks(
  found: Readonly<Record<string, string>>,
  filters: Readonly<Record<string, string>>,
): void {
  const reader = useId();
  useEffect(() => {
    const wrong = Object.entries(found).filter(([name, value]) => value !== "" && filters[name] !== value);
    if (wrong.length === 0) return;
    noteFallbacks(reader, Object.fromEntries(wrong));
    return () => noteFallbacks(reader, null);
  }, [reader, found, filters]);
}

const watchFallbacks = (tell: () => void): (() => void) => {
  watchers.add(tell);
  return () => watchers.delete(tell);
};

/** The names and values in the address that fell back to a default. */
export const useFallen = (): Readonly<Record<string, string>> =>
  useSyncExternalStore(watchFallbacks, () => fallen);

/** The setter alone: a component that only sets filters is not rendered again when the address changes. */
export function useSetFilters<S extends Shape>(shape: S): SetFilters<S> {
  const navigate = useNavigate();
  return (change, { typed = false } = {}) => {
    void navigate({
      to: ".",
      search: (now: Record<string, string>) => {
        const wanted = typeof change === "function" ? change(valuesOf(shape, now)) : change;
        const changed = Object.entries(wanted).map(([name, value]) => [
          name,
          value === shape[name]?.(undefined) ? undefined : value,
        ]);
        return { ...now, ...Object.fromEntries(changed) };
      },
      replace: typed,
      resetScroll: false,
    });
  };
}

export const parseSearch = (query: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(query));

export function stringifySearch(search: Record<string, unknown>): string {
  const set = Object.entries(search).filter((entry): entry is [string, string] => {
    const [, value] = entry;
    return typeof value === "string" && value !== "";
  });
  return set.length === 0 ? "" : `?${new URLSearchParams(set)}`;
}

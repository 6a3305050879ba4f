// What a page shows lives in the query string: back, reload and a pasted link give the same view. Each page names its
// filters with their fallbacks; a value that is not allowed falls back.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";

/** Reads one value of the query string. */
export type Filter<Value extends string> = (text: string | undefined) => Value;

export const text =
  (fallback = ""): Filter<string> =>
  (value) =>
    value ?? fallback;

export const oneOf =
  <const Value extends string>(allowed: readonly Value[], fallback: NoInfer<Value>): Filter<Value> =>
  (value) =>
    allowed.find((one) => one === value) ?? fallback;

type Shape = Readonly<Record<string, Filter<string>>>;
export type Filters<S extends Shape> = { [Name in keyof S]: ReturnType<S[Name]> };

export type SetFilters<S extends Shape> = (change: Partial<Filters<S>>, how?: { typed?: boolean }) => void;

/**
 * The page's filters, the same object until one of them changes, and a setter; what equals its fallback leaves the address. Typed
 * text is no step for Back. Whoever calls it is drawn again for these names of the address and for no other.
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
  const filters = useMemo(
    () =>
      Object.fromEntries(
        Object.entries(shape).map(([name, filter]) => [name, filter(found[name])]),
      ) as Filters<S>,
    [found, shape],
  );
  return [filters, useSetFilters(shape)];
}

/** The setter alone: who only sets is not drawn again when the address changes. */
export function useSetFilters<S extends Shape>(shape: S): SetFilters<S> {
  const navigate = useNavigate();
  return (wanted, { typed = false } = {}) => {
    const changed = Object.entries(wanted).map(([name, value]) => [
      name,
      value === shape[name]?.(undefined) ? undefined : value,
    ]);
    void navigate({
      to: ".",
      search: (now: Record<string, unknown>) => ({ ...now, ...Object.fromEntries(changed) }),
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

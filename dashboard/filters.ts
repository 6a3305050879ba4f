// What a page shows lives in the query string: back, reload and a pasted link give the same view. Each page names its
// filters with their fallbacks; a value that is not allowed falls back.
import { useNavigate, useSearch } from "@tanstack/react-router";

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

/** The page's filters and a setter; what equals its fallback leaves the address. Typed text is no step for Back. */
export function useFilters<S extends Shape>(shape: S): [Filters<S>, SetFilters<S>] {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const read = (name: string): string | undefined => {
    const value = search[name];
    return typeof value === "string" ? value : undefined;
  };
  const filters = Object.fromEntries(
    Object.entries(shape).map(([name, filter]) => [name, filter(read(name))]),
  ) as Filters<S>;
  const change: SetFilters<S> = (wanted, { typed = false } = {}) => {
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
  return [filters, change];
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

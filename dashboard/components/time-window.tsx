// The one control for a time range: one that ends now, today, yesterday, last month, or chosen days. Days are UTC and
// `YYYY-MM-DD` strings; the address holds what is sent to the server: `range`, or `from` and, exclusive, `to`.
import { Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { RANGES, type TimeRange } from "../../src/domain/usage-words.ts";
import { type Filter, oneOf } from "../filters.ts";
import { lastMonths, monthWindow } from "../format/month.ts";
import { addDays, formatTime, today } from "../format/time.ts";
import { FITTING } from "./choice.tsx";
import { KEPT } from "./filters.tsx";
import { rangeNames, windowTexts as words } from "./texts.ts";

/** Blank: chosen days, or everything. */
type Chosen = "" | TimeRange;

/** A day or a full timestamp; anything else gives the fallback. */
const instant: Filter<string> = (text) =>
  text !== undefined && /^\d{4}-\d\d-\d\d(T|$)/.test(text) && !Number.isNaN(Date.parse(text)) ? text : "";

/** The filters of a page with a time range; `""` goes back to the beginning, if that is the page's default. */
export const windowShape = (fallback: Chosen) => ({
  range: oneOf<Chosen>(fallback === "" ? ["", ...RANGES] : RANGES, fallback),
  from: instant,
  to: instant,
});

interface WindowFilters {
  range: Chosen;
  from: string;
  to: string;
}

const isOwn = ({ from, to }: WindowFilters): boolean => from !== "" || to !== "";

/** The parameters sent to the server. */
export const askedWindow = (filters: WindowFilters): Partial<WindowFilters> =>
  isOwn(filters) ? { from: filters.from, to: filters.to } : { range: filters.range };

const DAY = /^\d{4}-\d\d-\d\d/;
const dayOf = (text: string): string => DAY.exec(text)?.[0] ?? "";
/** The last day in the range: `to` is exclusive. */
const lastDayOf = (to: string): string => {
  const day = dayOf(to);
  return day === "" || !/^[^T]*(T00:00(:00(\.0+)?)?Z)?$/.test(to) ? day : addDays(day, -1);
};

/** In words: `7 days`, `1 Nov 00:00:00 UTC – 30 Nov 23:00:00 UTC`. */
export const windowName = (filters: WindowFilters): string =>
  isOwn(filters)
    ? (nameOf(filters) ??
      [filters.from, filters.to].map((at) => (at === "" ? "…" : formatTime(at))).join(" – "))
    : filters.range === ""
      ? words.all
      : rangeNames[filters.range];

const nameOf = (filters: WindowFilters): string | undefined => {
  const name = NAMES.find((one) => isNamed(filters, one));
  return name && words.named[name];
};

type Days = Pick<WindowFilters, "from" | "to">;

/** Named ranges of whole UTC days: the most common ones. */
const NAMED = {
  today: (): Days => oneDay(today()),
  yesterday: (): Days => oneDay(addDays(today(), -1)),
  last: (): Days => {
    const { from = "", to = "" } = monthWindow(lastMonths(2)[1] ?? "");
    return { from: dayOf(from), to: dayOf(to) };
  },
};
type Named = keyof typeof NAMED;
const NAMES = Object.keys(NAMED) as Named[];

const oneDay = (day: string): Days => ({ from: day, to: addDays(day, 1) });

const isNamed = ({ from, to }: Days, name: Named): boolean => {
  const days = NAMED[name]();
  return dayOf(from) === days.from && lastDayOf(to) === addDays(days.to, -1);
};

interface TimeWindowProps {
  filters: WindowFilters;
  set: (change: Partial<WindowFilters>) => void;
  /** Offers everything since the beginning. */
  all?: boolean;
}

export function TimeWindow({ filters, set, all = false }: TimeWindowProps) {
  const { from, to } = filters;
  const chosen = isOwn(filters) ? (NAMES.find((name) => isNamed(filters, name)) ?? "own") : filters.range;
  const choose = (value: string | null): void => {
    const name = NAMES.find((one) => one === value);
    if (name !== undefined) set(NAMED[name]());
    else if (value === "own") set({ from: addDays(today(), -6), to: addDays(today(), 1) });
    else set({ range: RANGES.find((one) => one === value) ?? "", from: "", to: "" });
  };
  return (
    <>
      <Select
        label={words.label}
        comboboxProps={FITTING}
        {...KEPT}
        allowDeselect={false}
        value={chosen}
        onChange={choose}
        data={[
          ...(all ? [{ value: "", label: words.all }] : []),
          ...RANGES.map((value) => ({ value: value as string, label: rangeNames[value] })),
          ...NAMES.map((value) => ({ value, label: words.named[value] })),
          { value: "own", label: words.own },
        ]}
      />
      {isOwn(filters) && (
        <>
          <Day
            label={words.from}
            value={dayOf(from)}
            choose={(day) =>
              set({ from: day, ...(to !== "" && lastDayOf(to) < day && { to: addDays(day, 1) }) })
            }
          />
          <Day
            label={words.to}
            value={lastDayOf(to)}
            choose={(day) => set({ to: addDays(day, 1), ...(dayOf(from) > day && { from: day }) })}
          />
        </>
      )}
    </>
  );
}

/** A date is incomplete while it is typed: only complete dates of this era are accepted. */
function Day({ label, value, choose }: { label: string; value: string; choose: (day: string) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <TextInput
      label={label}
      type="date"
      {...KEPT}
      min="2000-01-01"
      max="2999-12-31"
      value={typed ?? value}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        if (/^2\d{3}-/.test(currentTarget.value)) choose(currentTarget.value);
      }}
      onBlur={() => setTyped(null)}
    />
  );
}

// Money and times as figures: short on the page, exact on hover and in copies.
import { exactMoney, formatMoney } from "../format/money.ts";
import { formatLocalTime, formatTime, localTime, relativeTime } from "../format/time.ts";
import { useTimeDisplay } from "../time-display.ts";

export const Money = ({ usd }: { usd: string }) => (
  <span className="figures" title={exactMoney(usd)}>
    {formatMoney(usd)}
  </span>
);

/** Every digit, for arithmetic that has to add up in front of the reader. */
export const ExactMoney = ({ usd }: { usd: string }) => <span className="figures">{exactMoney(usd)}</span>;

/** In the zone that the reader chose; the other one is in the tooltip. */
export function Time({ at }: { at: string }) {
  const local = useTimeDisplay() === "local";
  return (
    <time className="figures" dateTime={at} title={local ? formatTime(at) : localTime(at)}>
      {local ? formatLocalTime(at) : formatTime(at)}
    </time>
  );
}

/** `3 min ago`, with the whole time on hover. */
export const Ago = ({ at, never = "never" }: { at: string | null; never?: string }) =>
  at === null ? (
    <span>{never}</span>
  ) : (
    <time className="figures" dateTime={at} title={`${formatTime(at)} · ${localTime(at)}`}>
      {relativeTime(at)}
    </time>
  );

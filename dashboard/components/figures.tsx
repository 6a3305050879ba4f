// Money and times as figures: short on the page, exact in the tooltip and in copies.
import { exactMoney, formatMoney } from "../format/money.ts";
import { formatLocalTime, formatTime, localTime, relativeTime } from "../format/time.ts";
import { useTimeDisplay } from "../time-display.ts";

/** An amount of at most this many characters fits in a tile at full size. */
const USUAL_LENGTH = 11;

export function Money({ usd }: { usd: string }) {
  const printed = formatMoney(usd);
  return (
    <span className="figures" title={exactMoney(usd)} data-long={printed.length > USUAL_LENGTH || undefined}>
      <Amount printed={printed} />
    </span>
  );
}

/** All digits, where the reader must be able to add figures up. */
export const ExactMoney = ({ usd }: { usd: string }) => (
  <span className="figures">
    <Amount printed={exactMoney(usd)} />
  </span>
);

/** In tables the fractions of a column have one width, so that the decimal points are aligned. */
function Amount({ printed }: { printed: string }) {
  const point = printed.lastIndexOf(".");
  if (point === -1) return printed;
  return (
    <>
      {printed.slice(0, point)}
      <span className="fraction">{printed.slice(point)}</span>
    </>
  );
}

/** In the reader's chosen zone; the other one is in the tooltip. */
export function Time({ at }: { at: string }) {
  const local = useTimeDisplay() === "local";
  return (
    <time className="figures" dateTime={at} title={`${local ? formatTime(at) : localTime(at)} · ${at}`}>
      <DayAndClock printed={local ? formatLocalTime(at) : formatTime(at)} />
    </time>
  );
}

/** If a line break is needed, it goes between the day and the time. */
function DayAndClock({ printed }: { printed: string }) {
  const clock = printed.search(/\d\d:/);
  if (clock === -1) return printed;
  return (
    <>
      <span>{printed.slice(0, clock - 1)}</span> <span>{printed.slice(clock)}</span>
    </>
  );
}

/** `3 min ago`, with the full time in the tooltip. */
export const Ago = ({ at, never = "never" }: { at: string | null; never?: string }) =>
  at === null ? (
    <span>{never}</span>
  ) : (
    <time className="figures" dateTime={at} title={`${formatTime(at)} · ${localTime(at)} · ${at}`}>
      <span>{relativeTime(at)}</span>
    </time>
  );

// Times that the settings allow but hardly anybody means: seconds written where milliseconds are read.
import type { Config } from "./configuration.ts";

/** Below this a call ends before most providers answer. */
const SHORT_MS = 1000;
/** After these a call is given up, by the group of their settings. */
const LIMITS = [
  "headerTimeoutMs",
  "requestTimeoutMs",
  "streamIdleMs",
  "answerTimeoutMs",
  "firstPartWaitMs",
] as const;
const TIMEOUTS = ["firstTokenMs", "idleMs", "totalMs"] as const;

export interface ShortTime {
  /** `limits.request_timeout_ms`, `providers[0].timeouts.total_ms`. */
  setting: string;
  ms: number;
}

/** Returns the times below a second after which calls are given up, in the order of the settings. */
export function shortTimes({ limits, providers }: Pick<Config, "limits" | "providers">): ShortTime[] {
  const times = [
    ...LIMITS.map((name) => ({ setting: `limits.${asWritten(name)}`, ms: limits[name] })),
    ...providers.flatMap(({ timeouts }, at) =>
      TIMEOUTS.map((name) => ({
        setting: `providers[${at}].timeouts.${asWritten(name)}`,
        ms: timeouts[name],
      })),
    ),
  ];
  return times.filter(({ ms }) => ms < SHORT_MS);
}

const asWritten = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

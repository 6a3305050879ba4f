// What `doctor` notes about times that the settings allow but hardly anybody means: seconds written where milliseconds are read.
import type { Config } from "../src/config/config.ts";
import { type Finding, note } from "./finding.ts";

/** Below this a call ends before a provider answers. */
const SHORT_MS = 1000;
/** The milliseconds after which a call is given up, by the group of their settings. */
const LIMITS = [
  "headerTimeoutMs",
  "requestTimeoutMs",
  "streamIdleMs",
  "answerTimeoutMs",
  "firstPartWaitMs",
] as const;
const TIMEOUTS = ["firstTokenMs", "idleMs", "totalMs"] as const;

/** One note for each time below a second. */
export function timeFindings({ limits, providers }: Pick<Config, "limits" | "providers">): Finding[] {
  const times = [
    ...LIMITS.map((name) => ({ at: `limits.${asWritten(name)}`, ms: limits[name] })),
    ...providers.flatMap(({ name: provider, timeouts }) =>
      TIMEOUTS.map((name) => ({ at: `timeouts.${asWritten(name)} of ${provider}`, ms: timeouts[name] })),
    ),
  ];
  return times
    .filter(({ ms }) => ms < SHORT_MS)
    .map(({ at, ms }) =>
      note(
        "times",
        `${at} is ${ms} ms: most calls end before they are answered`,
        `It is in milliseconds: ${ms} seconds are ${ms * 1000}.`,
      ),
    );
}

const asWritten = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

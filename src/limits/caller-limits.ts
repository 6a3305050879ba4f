// What an operator may set for each caller: one row is a limit whole. Its setting and the editor's schema, whom it counts
// for, its refusal and its place in the metrics follow from it. All of them are off unless they are set.
import type { CallerIds } from "../domain/credential.ts";
import { type CamelCase, camelCase } from "../lib/camel-case.ts";

/** Whose calls are counted together. */
interface Subject {
  of: (caller: CallerIds) => string;
  /** As a refusal begins. */
  whose: string;
}

interface Row extends Subject {
  /** The setting takes 1 to this many. */
  atMost: number;
  /** Of the setting, for the editor's schema. */
  description: string;
}

const KEY: Subject = { of: ({ keyId }) => keyId, whose: "This key" };
const ORGANIZATION: Subject = { of: ({ organizationId }) => organizationId, whose: "This organization" };

/** Requests within a minute, refused ones and replays included. */
const PER_MINUTE = {
  key_requests_per_minute: { ...KEY, atMost: 10_000_000, description: "null switches it off." },
} satisfies Record<string, Row>;

/** Requests that are not settled yet. */
const AT_ONCE = {
  key_concurrent: { ...KEY, atMost: 1_000_000, description: "null switches it off." },
  organization_concurrent: {
    ...ORGANIZATION,
    atMost: 1_000_000,
    description: "So that no organization takes all of max_concurrent; null switches it off.",
  },
} satisfies Record<string, Row>;

/** By the name of the setting in `limits`; the first one that is reached is the one that is told. */
export const CALLER_LIMITS = { ...PER_MINUTE, ...AT_ONCE };

/** Null = off. */
export type CallerLimitSettings = Record<CamelCase<keyof typeof CALLER_LIMITS>, number | null>;

/** A row that is switched on. */
export interface CallerLimit extends Subject {
  /** Of the setting. */
  name: string;
  most: number;
}

/** The limits that these settings switch on. */
export const callerLimits = (
  settings: CallerLimitSettings,
): Record<"perMinute" | "atOnce", CallerLimit[]> => {
  const switchedOn = (names: readonly (keyof typeof CALLER_LIMITS)[]): CallerLimit[] =>
    names.flatMap((name) => {
      const most = settings[camelCase(name)];
      return most === null ? [] : [{ name, most, ...CALLER_LIMITS[name] }];
    });
  return { perMinute: switchedOn(namesOf(PER_MINUTE)), atOnce: switchedOn(namesOf(AT_ONCE)) };
};

const namesOf = <Name extends string>(rows: Record<Name, Row>): Name[] => Object.keys(rows) as Name[];

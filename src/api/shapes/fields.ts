// Shapes that all records of `/app/v1` are built from. Money is a decimal string with nine places, a time is
// RFC 3339 in UTC, null means "not there"; a list is one page, `next_cursor` is null on the last.
import { z } from "zod";
import { parseUsd } from "../../domain/money.ts";
import { PAGE_ROWS_MAX, RECORDS_MAX } from "../../domain/page-rows.ts";
import { DAMAGED } from "../../domain/print.ts";
import { ROUTE_STATES } from "../../domain/release.ts";
import { RANGES } from "../../domain/usage-words.ts";
import { isReordered, isVisible } from "../../domain/visible-text.ts";

export const usd = z
  .string()
  .regex(/^-?\d+\.\d{9}$/)
  .meta({ examples: ["5.000000000"] });
export const time = z
  .union([z.iso.datetime(), z.literal(DAMAGED)])
  .describe("RFC 3339 in UTC; `damaged` if the stored time is invalid.")
  .meta({ id: "Time", examples: ["2026-11-21T09:30:00.000Z"] });
export const count = z.int().min(0);
export const milliseconds = z.number().min(0);
export const tier = z.enum(["standard", "research"]);
export const routeState = z.enum(ROUTE_STATES);
/** The state of a route's circuit breaker. */
export const circuit = z.enum(["closed", "open", "half_open"]);
/** The kind of credits that came in or went back. */
export const creditKind = z.enum(["purchase", "grant", "refund", "chargeback"]);
export const orgId = z.string().regex(/^org_[0-9A-Za-z]{1,40}$/, "must be an organization's id, org_…");
export const keyId = z.string().regex(/^key_[0-9A-Za-z]{1,40}$/, "must be a key's id, key_…");
/** An id of any kind, in a path. */
export const id = z.string().regex(/^[A-Za-z0-9_.:-]{1,100}$/);
const cursor = z.string().max(200);
const NO_VERSION =
  "is required, so that no one's change is overwritten. A page that was loaded before the gateway was updated does not send it: reload the page";
/**
 * The version of a row that several people edit (`domain/row-version.ts`): in its responses, and sent with
 * each change.
 */
export const version = z
  .string({ error: ({ input }) => (input === undefined ? NO_VERSION : undefined) })
  .max(40);
/** Decimal text that `parseUsd` reads exactly, as people type it. */
export const usdInput = z
  .string()
  .regex(/^\d{1,10}(\.\d{1,9})?$/, 'must be US dollars like "5.00", at most 9 decimals');
/** An amount in the operator API, whose errors say what is wrong with it. */
export const exactUsdInput = z
  .string('must be a decimal string of US dollars, like "5.00"')
  .refine(
    (text) => parseUsd(text) !== null,
    'must be US dollars like "5.00": no sign, no exponent, at most 9 decimals',
  )
  .meta({ examples: ["5.00"] });
export const timeInput = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], "must be a time like 2026-12-31T00:00:00Z")
  .meta({ examples: ["2026-12-31T00:00:00Z", "2026-12-31"] });
/**
 * One line of text as people type it: visible, in reading order, without control characters, in whole
 * characters.
 */
export const line = (max = 200) =>
  z
    .string()
    .max(max)
    .refine(isVisible, "must not be blank")
    .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), "must not contain control characters")
    .refine((text) => !isReordered(text), "must not contain characters that change the direction of text")
    .meta({ minLength: 1 });
export const email = z.email().max(254);
export const password = z.string().min(10, "must have at least 10 characters").max(128);

/** A list that is bounded, and complete. */
export const wholeListOf = <Row extends z.ZodType>(row: Row) =>
  z.object({ data: z.array(row), next_cursor: z.null() });
/** One page of rows. */
export const listOf = <Row extends z.ZodType>(row: Row) =>
  z.object({ data: z.array(row), next_cursor: z.string().nullable() });
/** For every list: the start and the maximum length of the page. */
export const page = {
  cursor: cursor.optional(),
  limit: z.coerce.number().int().min(1).max(PAGE_ROWS_MAX).optional(),
};
/** The same for lists of the operator API that came whole before they had pages: up to 1,000 without a limit. */
export const recordsPage = {
  /** May contain the longest name of a route (400 characters). */
  cursor: z.string().max(500).optional(),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(RECORDS_MAX)
    .optional()
    .describe(`At most this many rows; default: ${RECORDS_MAX}.`),
};
/** What rows are searched by; each list says where it looks. */
export const searchText = z.string().max(200);
/** A window of time: `range` relative to now, or `from`/`to`. Default: the current UTC month. */
export const window = {
  range: z.enum(RANGES).optional(),
  from: timeInput.optional(),
  to: timeInput.optional(),
};
/** A window divided into buckets for a chart. */
export const buckets = {
  /** Whole buckets: `from` is rounded down, `to` up. */
  from: time,
  to: time,
  bucket: z.enum(["hour", "day"]),
  /** The start of the bucket still running, if it is in the window. */
  running_bucket: time.nullable(),
};
/** Usage and charges. */
export const usageFigures = {
  /** Charged requests only. */
  requests: count,
  input_tokens: count,
  cached_tokens: count,
  cache_write_tokens: count,
  output_tokens: count,
  charge_usd: usd,
};
/** A person as other members of the organization see them; the name is null for somebody who left. */
export const personRef = z.object({ id: z.string(), name: z.string().nullable() });
export const done = z.object({ done: z.literal(true) });
export const DONE = { done: true } as const;

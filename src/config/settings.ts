// The settings as operators write them (interfaces.md §3): the one description behind the check at start, the defaults
// and the editor's JSON schema. Every object is strict: a misspelt field is refused, never ignored.
import { z } from "zod";
import { parseDurationMs } from "./duration.ts";

const text = z.string().min(1, "must not be empty");
const port = z.int().min(0).max(65_535);
const milliseconds = (max: number) => z.int().min(1).max(max);
const count = (max: number) => z.int().min(1).max(max);
const HOUR_MS = 3_600_000;

const duration = z
  .string()
  .refine(
    (value) => parseDurationMs(value) !== null,
    "must be a whole number and a unit, like 60s, 24h or 30d",
  )
  .meta({ examples: ["60s", "24h", "30d"] });

const webUrl = text.refine(
  isWebUrl,
  "must be an http:// or https:// address without credentials, query or fragment",
);

function isWebUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || !["http:", "https:"].includes(url.protocol)) return false;
  return url.username === "" && url.password === "" && url.search === "" && url.hash === "";
}

function isOrigin(value: string): boolean {
  return isWebUrl(value) && new URL(value).origin === value;
}

const health = z.strictObject({
  probe: z
    .string()
    .startsWith("/", "must be a path like /models")
    .nullable()
    .default("/models")
    .describe(
      "Path below base_url that is fetched to see whether the provider lives; null switches probing off.",
    ),
  interval_ms: milliseconds(HOUR_MS).default(10_000),
  open_after_failures: count(1000).default(5),
  half_open_after_ms: milliseconds(HOUR_MS).default(5000),
});

const timeouts = z.strictObject({
  connect_ms: milliseconds(HOUR_MS).default(5000),
  first_token_ms: milliseconds(HOUR_MS).default(60_000),
  idle_ms: milliseconds(HOUR_MS).default(60_000),
  total_ms: milliseconds(HOUR_MS).default(600_000),
});

const provider = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, "must be 1 to 64 of a-z, 0-9, '.', '_', '-'")
      .describe("The name that releases refer to."),
    kind: z.enum(["openai", "simulator"]).describe("The wire format that the provider speaks."),
    base_url: webUrl
      .optional()
      .describe("Up to and including its version segment, e.g. https://api.example.com/v1"),
    api_key: text.optional().describe("Write it as ${NAME}, so that it stays out of the file."),
    health: health.prefault({}),
    timeouts: timeouts.prefault({}),
  })
  .refine((value) => value.kind === "simulator" || value.base_url !== undefined, {
    path: ["base_url"],
    message: "is needed for this kind of provider",
  });

const providers = z
  .array(provider)
  .min(1, "needs at least one provider; leave the field out to run the built-in simulator")
  .refine(
    (list) => new Set(list.map(({ name }) => name)).size === list.length,
    "has two providers of one name",
  )
  .describe("Without this field the gateway runs the built-in simulator.");

const listen = z.strictObject({
  host: text.default("127.0.0.1"),
  port: port.default(8080).describe("0 takes any free port."),
});

const limits = z.strictObject({
  body_bytes: z
    .int()
    .min(1024)
    .max(64 * 1024 * 1024)
    .default(8 * 1024 * 1024),
  header_timeout_ms: milliseconds(255_000).default(10_000),
  request_timeout_ms: milliseconds(HOUR_MS).default(600_000),
  stream_idle_ms: milliseconds(HOUR_MS).default(120_000),
  max_concurrent: count(1_000_000).default(4096),
  answer_timeout_ms: milliseconds(HOUR_MS)
    .default(290_000)
    .describe("A call that is not streamed ends within this time; many clients give up after 300 s."),
  first_part_wait_ms: milliseconds(HOUR_MS)
    .default(65_000)
    .describe("How long a stream's headers wait for the first part of the answer."),
  stop_grace_ms: milliseconds(HOUR_MS)
    .default(30_000)
    .describe("How long a gateway that is told to stop lets running answers finish."),
  key_requests_per_minute: count(10_000_000).nullable().default(null).describe("null switches it off."),
  key_concurrent: count(1_000_000).nullable().default(null).describe("null switches it off."),
});

const idempotency = z.strictObject({
  body_retention: duration.default("24h"),
  tombstone_retention: duration.default("30d"),
  attach_wait: duration.default("60s"),
});

const log = z.strictObject({
  level: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  content: z.literal("never").default("never").describe("Prompts and answers are never logged."),
});

export const settingsSchema = z.strictObject({
  listen: listen.prefault({}),
  public_url: webUrl.optional().describe("Where clients reach the gateway, without /v1. Used in links."),
  data_dir: text.default("./data"),
  database_url: text
    .regex(/^postgres(ql)?:\/\//, "must begin with postgres://")
    .optional()
    .describe("Leave it out for the embedded SQLite store."),
  limits: limits.prefault({}),
  headers: z
    .strictObject({
      headroom: z.boolean().default(true).describe("Whether answers tell what is left to spend."),
    })
    .prefault({}),
  cors: z
    .strictObject({
      origins: z.array(text.refine(isOrigin, "must be an origin like https://app.example.com")).default([]),
    })
    .prefault({}),
  trust: z
    .strictObject({
      release_keys: z
        .array(text)
        .min(1, "needs at least one public key file")
        .describe("Public JWK files; only releases signed by these are accepted."),
    })
    .optional(),
  providers: providers.optional(),
  idempotency: idempotency.prefault({}),
  log: log.prefault({}),
});

export type Settings = z.output<typeof settingsSchema>;

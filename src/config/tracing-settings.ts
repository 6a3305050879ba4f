// `tracing`: where spans are sent, and which requests are traced. The environment variables have OpenTelemetry's
// names (`overrides.ts`).
import { z } from "zod";
import { SAMPLERS } from "../tracing/sampler.ts";
import { HOUR_MS } from "../domain/durations.ts";
import { nonEmpty, upToMilliseconds, webUrl } from "./setting-values.ts";

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
const HEADER_VALUE = /^[\x20-\x7e]{0,4096}$/;

/** Names and values, written as a group or as OpenTelemetry writes them in the environment: `a=1,b=2`, percent-encoded. */
const pairs = (wrong: (name: string, value: string) => string | null) =>
  z
    .union([z.string(), z.record(z.string(), z.string())])
    .default({})
    .transform((written, context) => {
      const read = typeof written === "string" ? pairsOf(written) : written;
      const message = read === null ? "must be like a=1,b=2, percent-encoded" : firstWrong(read, wrong);
      if (read !== null && message === null) return read;
      context.addIssue({ code: "custom", message: message ?? "" });
      return z.NEVER;
    });

const firstWrong = (
  read: Record<string, string>,
  wrong: (name: string, value: string) => string | null,
): string | null =>
  Object.entries(read).reduce<string | null>((found, [name, value]) => found ?? wrong(name, value), null);

function pairsOf(text: string): Record<string, string> | null {
  const read: Record<string, string> = {};
  for (const pair of text.split(",")) {
    if (pair.trim() === "") continue;
    const at = pair.indexOf("=");
    if (at < 1) return null;
    try {
      read[pair.slice(0, at).trim()] = decodeURIComponent(pair.slice(at + 1).trim());
    } catch {
      return null;
    }
  }
  return read;
}

export const tracing = z
  .strictObject({
    exporter: z
      .enum(["otlp", "none"])
      .default("otlp")
      .describe("none turns tracing off, whatever else is set."),
    endpoint: webUrl
      .optional()
      .describe(
        "The address of an OTLP collector that accepts HTTP; /v1/traces is appended. Without it nothing is traced.",
      ),
    traces_endpoint: webUrl.optional().describe("The same, used as given."),
    protocol: z
      .enum(["http/json", "http/protobuf", "grpc"])
      .default("http/json")
      .describe(
        "JSON over HTTP, which every collector that accepts protobuf over HTTP also accepts; grpc is refused.",
      ),
    headers: pairs((name, value) =>
      HEADER_NAME.test(name) && HEADER_VALUE.test(value) ? null : `has an invalid header: ${name}`,
    ).describe("Sent with every export; write secrets as ${NAME}."),
    service_name: nonEmpty
      .max(255)
      .optional()
      .describe("Default: tollgate, unless resource sets another name."),
    resource: pairs((name) => (name === "" ? "has an attribute without a name" : null)).describe(
      "Attributes of this gateway, such as deployment.environment.name.",
    ),
    sampler: z.enum(SAMPLERS).default("parentbased_always_on"),
    sampler_ratio: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .describe("For traceidratio and parentbased_traceidratio: the share of traces to keep."),
    timeout_ms: upToMilliseconds(HOUR_MS).default(10_000),
    interval_ms: upToMilliseconds(HOUR_MS).default(5_000).describe("How often collected spans are sent."),
  })
  .refine(
    ({ exporter, endpoint, protocol }) =>
      exporter === "none" || endpoint === undefined || protocol !== "grpc",
    {
      path: ["protocol"],
      message: "must be http/json or http/protobuf: this gateway sends OTLP over HTTP, usually to port 4318",
    },
  )
  .transform(({ exporter, endpoint, traces_endpoint, ...written }) => {
    const resource: Record<string, string> = { "service.name": "tollgate", ...written.resource };
    if (written.service_name !== undefined) resource["service.name"] = written.service_name;
    const url =
      traces_endpoint ?? (endpoint === undefined ? null : `${endpoint.replace(/\/+$/, "")}/v1/traces`);
    if (exporter === "none" || url === null) return null;
    return {
      url,
      headers: written.headers,
      resource,
      sampling: { sampler: written.sampler, ratio: written.sampler_ratio },
      timeoutMs: written.timeout_ms,
      intervalMs: written.interval_ms,
    };
  });

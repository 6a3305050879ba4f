// `providers[]`: the settings of every provider, and those of its kind (providers.md §7). The kinds are passed in: a
// new kind is one line of `providers/kinds.ts`, and nothing here.
import { z } from "zod";
import type { ProviderKind } from "../providers/kind.ts";
import type { Wrong } from "../providers/setting.ts";
import { HOUR_MS } from "../domain/durations.ts";
import { group, upTo, upToMilliseconds, webUrl, withoutSlash } from "./setting-values.ts";

const health = (probePath: string | null) =>
  group({
    probe: z
      .string()
      .startsWith("/", "must be a path like /models")
      .nullable()
      .default(probePath)
      .describe("The path below base_url to fetch as a health check; null turns probing off."),
    interval_ms: upToMilliseconds(HOUR_MS).default(10_000),
    open_after_failures: upTo(1000).default(5),
    half_open_after_ms: upToMilliseconds(HOUR_MS).default(5000),
  });

const timeouts = group({
  connect_ms: upToMilliseconds(HOUR_MS).default(5000),
  first_token_ms: upToMilliseconds(HOUR_MS).default(60_000),
  idle_ms: upToMilliseconds(HOUR_MS).default(60_000),
  total_ms: upToMilliseconds(HOUR_MS).default(600_000),
});

/** One provider of a kind. The kind's own settings are kept apart, since only the kind reads them. */
const provider = (kind: ProviderKind) =>
  z
    .strictObject({
      name: z
        .string()
        .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, "must be 1 to 64 of a-z, 0-9, '.', '_', '-'")
        .describe("The name that releases refer to."),
      kind: z.literal(kind.name).describe(kind.description),
      base_url: webUrl
        .optional()
        .describe("Up to and including its version segment, e.g. https://api.example.com/v1"),
      traceparent: z
        .boolean()
        .default(false)
        .describe("Send the W3C traceparent header, so that the provider's traces join the caller's."),
      ...(kind.settings as Record<string, z.ZodType>),
      health: health(kind.probePath).prefault({}),
      timeouts: timeouts.prefault({}),
    })
    .superRefine((value, context) => {
      const found = wrongOf(kind, value);
      if (found !== null) context.addIssue({ code: "custom", path: [found.setting], message: found.message });
    })
    .transform(({ name, kind: _kind, base_url, health, timeouts, traceparent, ...own }) => ({
      name,
      traceparent,
      kind,
      /** Null only if the kind runs one inside this process. */
      baseUrl: withoutSlash(base_url ?? kind.addressOf?.(own) ?? kind.baseUrl),
      health,
      timeouts,
      /** The kind's own settings; nothing else reads them. */
      own: own as object,
    }));

/** Returns a problem with settings that are well formed one by one. */
function wrongOf(kind: ProviderKind, { base_url, ...own }: { base_url?: string | undefined }): Wrong | null {
  const home = kind.addressOf ?? kind.baseUrl ?? kind.startInside;
  if (base_url !== undefined || home !== undefined) return kind.wrong?.(own, base_url ?? null) ?? null;
  const example = kind.addressExample === undefined ? "" : `, e.g. ${kind.addressExample}`;
  return { setting: "base_url", message: `is required for this kind of provider${example}` };
}

export const providers = (kinds: readonly ProviderKind[]) => {
  const [first, ...rest] = kinds.map(provider);
  if (first === undefined) throw new Error("there is no provider kind");
  return z
    .array(
      z.discriminatedUnion("kind", [first, ...rest], {
        error: ({ code }) =>
          code === "invalid_union" ? `must be one of ${kinds.map(({ name }) => name).join(", ")}` : undefined,
      }),
    )
    .min(1, "needs at least one provider; omit the field to run the built-in simulator")
    .superRefine((list, context) => {
      const names = list.map(({ name }) => name);
      names.forEach((name, index) => {
        const first = names.indexOf(name);
        if (first === index) return;
        const message = `${name} is the name of providers[${first}] too; give each provider a name of its own`;
        context.addIssue({ code: "custom", path: [index, "name"], message });
      });
    })
    .describe(
      "Without trust.release_keys the gateway also runs the built-in simulator, for its demo models; without this field, it runs only the simulator.",
    );
};

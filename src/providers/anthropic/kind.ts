// `kind: anthropic`: Claude in its own shape, at the vendor or in another's envelope (providers.md §1, §7).
import { z } from "zod";
import { httpProvider } from "../http/http-provider.ts";
import type { ProviderKind } from "../kind.ts";
import type { Wrong } from "../setting.ts";
import { type Contract, THINKING_OFF, THINKING_STYLES } from "./contracts.ts";
import { ENVELOPE_NAMES, type EnvelopeName, type EnvelopeOwn, ENVELOPES } from "./envelopes.ts";

const oneOf = (names: readonly string[]): string => `must be one of ${names.join(", ")}`;
const SAMPLING = ["both", "either", "none"] as const;

const models = z
  .strictObject({
    thinking: z
      .enum(THINKING_STYLES, oneOf(THINKING_STYLES))
      .optional()
      .describe(
        "How to request thinking: adaptive with an effort, or a token budget (Claude 4.5 and earlier).",
      ),
    thinking_off: z
      .enum(THINKING_OFF, oneOf(THINKING_OFF))
      .optional()
      .describe("How to turn thinking off: by omitting it, by sending disabled, or never."),
    sampling: z
      .enum(SAMPLING, oneOf(SAMPLING))
      .optional()
      .describe("Whether temperature and top_p are supported: both, either of them, or none."),
    forced_tools: z.boolean().optional().describe("Whether a tool call can be forced."),
  })
  .prefault({})
  .describe(
    "What its models support, if their names do not show it, as with a deployment that has its own name.",
  )
  .transform(
    ({ thinking, thinking_off, sampling, forced_tools }): Partial<Contract> => ({
      ...(thinking !== undefined && { thinking }),
      ...(thinking_off !== undefined && { thinkingOff: thinking_off }),
      ...(sampling !== undefined && { sampling }),
      ...(forced_tools !== undefined && { forcedTools: forced_tools }),
    }),
  );

/** The settings of all envelopes: each is required by some of them, and rejected by the others. */
const OF_ENVELOPES: Record<string, z.ZodType> = Object.fromEntries(
  Object.values(ENVELOPES).flatMap(({ credentials }) =>
    Object.entries(credentials.settings).map(([name, type]) => [name, (type as z.ZodType).optional()]),
  ),
);

interface Own extends EnvelopeOwn {
  envelope: EnvelopeName;
  models: Partial<Contract>;
}

const kind: ProviderKind<Own> = {
  name: "anthropic",
  description: "Claude in the Messages format, at Anthropic or at a cloud that serves it.",
  settings: {
    envelope: z
      .enum(ENVELOPE_NAMES, oneOf(ENVELOPE_NAMES))
      .default("direct")
      .describe(
        "Where it is served: Anthropic itself, Microsoft Foundry, Google Cloud's Vertex AI or Amazon Bedrock.",
      ),
    ...OF_ENVELOPES,
    models,
  },
  addressOf: (own) => ENVELOPES[own.envelope].home(own) ?? "",
  probePath: "/models",
  credential: {
    setting: "api_key",
    needed: true,
    given: (own) => ENVELOPES[own.envelope].credentials.given(own),
  },
  wrong: wrongEnvelope,
  shown: ({ envelope, models, region, project, location }) => ({
    envelope,
    region,
    project,
    location,
    models,
  }),
  create: async (upstream, { envelope, models, ...own }) => {
    const { claudeCodec } = await import("./codec.ts");
    const authorize = ENVELOPES[envelope].credentials.authorize(own);
    return httpProvider(upstream, claudeCodec({ envelope, own, contract: models, authorize }));
  },
};
export const anthropic: ProviderKind = kind;

/** Returns a setting of another envelope, an address that is not one of this envelope, or what its credentials lack. */
function wrongEnvelope(own: Own, address: string | null): Wrong | null {
  const { envelope: name } = own;
  const envelope = ENVELOPES[name];
  const foreign = Object.keys(OF_ENVELOPES).find(
    (setting) => own[setting as keyof Own] !== undefined && !envelope.settings.includes(setting),
  );
  if (foreign !== undefined) {
    const owners = ENVELOPE_NAMES.filter((other) => ENVELOPES[other].settings.includes(foreign));
    return {
      setting: foreign,
      message: `does not apply to envelope: ${name}; it belongs to envelope: ${owners.join(", ")}`,
    };
  }
  const lacking = envelope.lacks?.(own) ?? null;
  if (lacking !== null) return lacking;
  if (address === null && envelope.home(own) === null)
    return { setting: "base_url", message: `is required with envelope: ${name}, e.g. ${envelope.example}` };
  const atHome = address === null || isAtHome(name, address);
  if (address !== null && atHome && new URL(address).pathname !== new URL(envelope.example).pathname)
    return { setting: "base_url", message: `must look like ${envelope.example}` };
  return envelope.credentials.wrong(own, { title: envelope.title, atHome });
}

function isAtHome(name: EnvelopeName, address: string): boolean {
  const { hostname } = new URL(address);
  return ENVELOPES[name].hosts.some((host) =>
    host.startsWith(".") ? hostname.endsWith(host) : hostname === host,
  );
}

// `kind: google`: Gemini in its own shape, at Google's API (`envelope: direct`) or in a Vertex project
// (providers.md §7).
import { z } from "zod";
import { GoogleServiceAccount } from "../credentials/google-service-account.ts";
import { serviceAccount } from "../credentials/service-account-key.ts";
import { foreignOwner } from "../credentials/key-form.ts";
import { httpProvider } from "../http/http-provider.ts";
import { providerKind } from "../kind.ts";
import { secretText, type Wrong } from "../setting.ts";

const ENVELOPES = ["direct", "vertex"] as const;
const DIRECT_URL = "https://generativelanguage.googleapis.com/v1beta";

const settings = {
  envelope: z
    .enum(ENVELOPES, `must be one of ${ENVELOPES.join(", ")}`)
    .default("direct")
    .describe("Where it is served: Google's Gemini API, or a Google Cloud project's Vertex AI."),
  api_key: secretText,
  service_account: serviceAccount.optional(),
  project: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.:-]{0,127}$/, "must be a Google Cloud project id, like my-project-7")
    .optional()
    .describe("For envelope: vertex; default: the service account's own project."),
  location: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "must be a Vertex AI location, like global or europe-west4")
    .optional()
    .describe("For envelope: vertex; default: global."),
};

type Own = z.output<z.ZodObject<typeof settings>>;

export const google = providerKind({
  name: "google",
  description: "Gemini in its own format, at Google's API or at Vertex AI.",
  settings,
  addressOf: ({ envelope, location = "global" }) =>
    envelope === "direct"
      ? DIRECT_URL
      : `https://${location === "global" ? "" : `${location}-`}aiplatform.googleapis.com/v1`,
  wrong,
  probePath: "/models",
  credential: {
    setting: "api_key or service_account",
    needed: true,
    given: ({ api_key, service_account }) => (api_key ?? service_account) !== undefined,
  },
  shown: ({ envelope, project, location }) => ({ envelope, project, location }),
  create: async (upstream, { envelope, api_key, service_account, project, location = "global" }) => {
    const { geminiCodec } = await import("./codec.ts");
    const of = project ?? service_account?.project ?? "";
    return httpProvider(
      upstream,
      geminiCodec({
        provider: upstream.name,
        path: envelope === "direct" ? "" : `/projects/${of}/locations/${location}/publishers/google`,
        credential:
          service_account !== undefined
            ? { account: new GoogleServiceAccount(service_account) }
            : api_key === undefined
              ? null
              : { apiKey: api_key },
      }),
    );
  },
});

/** Returns a setting that one envelope requires or does not know. A stand-in for the Gemini API may need no key. */
function wrong(own: Own, baseUrl: string | null): Wrong | null {
  return own.envelope === "direct" ? wrongDirect(own, baseUrl) : wrongVertex(own);
}

function wrongDirect(
  { api_key, service_account, project, location }: Own,
  baseUrl: string | null,
): Wrong | null {
  for (const [setting, value] of Object.entries({ service_account, project, location }))
    if (value !== undefined)
      return { setting, message: "belongs to envelope: vertex; the Gemini API itself takes an api_key" };
  if (baseUrl !== null) return null;
  if (api_key === undefined)
    return { setting: "api_key", message: "is required: a Gemini API key, or envelope: vertex" };
  const owner = foreignOwner(api_key, "Google");
  return owner === null
    ? null
    : { setting: "api_key", message: `looks like a key of ${owner}; use a Gemini API key` };
}

function wrongVertex({ api_key, service_account, project }: Own): Wrong | null {
  if (api_key !== undefined)
    return { setting: "api_key", message: "belongs to envelope: direct; Vertex AI takes a service_account" };
  if (service_account === undefined)
    return {
      setting: "service_account",
      message: "is required with envelope: vertex: the path of its JSON key file, or its text as ${NAME}",
    };
  return project === undefined && service_account.project === null
    ? { setting: "project", message: "is required: the service account's key does not name one" }
    : null;
}

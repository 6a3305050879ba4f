// Azure: a key in `api-key`, or a Microsoft Entra application that fetches tokens with its client credentials.
import { z } from "zod";
import { keyHeader } from "./api-key.ts";
import type { Authorize } from "../codec.ts";
import { credentials } from "./credentials.ts";
import { secretText } from "../setting.ts";
import { foreignOwner } from "./key-form.ts";
import { isTokenUri, OAuthToken } from "./oauth.ts";

/** The scope of all models behind Azure OpenAI and Foundry. */
const SCOPE = "https://cognitiveservices.azure.com/.default";

const entra = z.strictObject({
  tenant: z
    .string()
    .regex(/^[\w.-]{1,100}$/, "must be a tenant id or domain")
    .describe("The tenant's id or domain."),
  client_id: z.string().min(1, "must not be empty"),
  client_secret: z.string().min(1, "must not be empty").describe("Write it as ${NAME}."),
  authority: z
    .string()
    .refine(isTokenUri, "must be an https:// address like https://login.microsoftonline.com")
    .default("https://login.microsoftonline.com")
    .describe("National clouds have their own."),
  scope: z.string().min(1, "must not be empty").default(SCOPE),
});

type Entra = z.output<typeof entra>;

export const azureCredentials = credentials({
  settings: {
    api_key: secretText,
    entra: entra.optional().describe("Instead of a key: an application that has a role on the resource."),
  },
  setting: "api_key",
  needed: true,
  given: (own) => own.api_key !== undefined || own.entra !== undefined,
  wrong({ api_key, entra: application }, { title, atHome }) {
    if (api_key !== undefined && application !== undefined)
      return { setting: "entra", message: "cannot be combined with api_key: leave out one of them" };
    if (!atHome) return null;
    if (api_key === undefined)
      return application === undefined
        ? { setting: "api_key", message: "is required, or entra: { tenant, client_id, client_secret }" }
        : null;
    const owner = foreignOwner(api_key, title);
    if (owner === null) return null;
    return {
      setting: "api_key",
      message: `looks like a key of ${owner}; use the key of the Azure resource`,
    };
  },
  authorize({ api_key, entra: application }) {
    if (application !== undefined) return entraBearer(application);
    const proof = api_key === undefined ? {} : keyHeader("api-key", api_key);
    return () => proof;
  },
});

function entraBearer({ authority, tenant, client_id, client_secret, scope }: Entra): Authorize {
  const url = `${authority.replace(/\/+$/, "")}/${tenant}/oauth2/v2.0/token`;
  const form = { grant_type: "client_credentials", client_id, client_secret, scope };
  return new OAuthToken(() => ({ url, form, secrets: [client_secret, client_id] })).proof();
}

// One key in one header, as most vendors use.
import { credentials, type Credentials } from "./credentials.ts";
import { secretText } from "../setting.ts";
import { foreignOwner } from "./key-form.ts";

/** The header of the key: `authorization` as bearer token, or one of its own. */
export type KeyHeader = "authorization" | "api-key" | "x-api-key";

/** `needed`: the vendor's own address answers no calls without a key. */
export const apiKeyCredentials = ({ header, needed }: { header: KeyHeader; needed: boolean }): Credentials =>
  credentials({
    settings: { api_key: secretText },
    setting: "api_key",
    needed,
    given: ({ api_key }) => api_key !== undefined,
    wrong({ api_key }, { title, atHome }) {
      if (!atHome) return null;
      if (api_key === undefined)
        return needed
          ? { setting: "api_key", message: `is required: an API key of your account at ${title}` }
          : null;
      const owner = foreignOwner(api_key, title);
      if (owner === null) return null;
      return {
        setting: "api_key",
        message: `looks like a key of ${owner}, which ${title} does not accept; use a key of ${title}, or the other vendor's kind`,
      };
    },
    authorize: ({ api_key }) => {
      const proof = api_key === undefined ? {} : keyHeader(header, api_key);
      return () => proof;
    },
  });

/** Returns the header: a bearer token in `authorization`, the plain key in any other. */
export const keyHeader = (header: KeyHeader, key: string): Record<string, string> =>
  header === "authorization" ? { authorization: `Bearer ${key}` } : { [header]: key };

// One key in one header: most vendors.
import { credentials, type Credentials } from "./credentials.ts";
import { secretText } from "../setting.ts";
import { foreignOwner } from "./key-form.ts";

/** Where a key goes: `authorization` as bearer, or a header of its own. */
export type KeyHeader = "authorization" | "api-key" | "x-api-key";

/** `needed`: the vendor's own address answers nobody without one. */
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
          ? { setting: "api_key", message: `is needed: the key of the account at ${title}` }
          : null;
      const owner = foreignOwner(api_key, title);
      if (owner === null) return null;
      return {
        setting: "api_key",
        message: `looks like a key of ${owner}, which ${title} does not take: give this vendor's key, or name the other's kind`,
      };
    },
    authorize: ({ api_key }) => {
      const proof = api_key === undefined ? {} : keyHeader(header, api_key);
      return () => proof;
    },
  });

/** As a bearer token in `authorization`, as it stands in any other header. */
export const keyHeader = (header: KeyHeader, key: string): Record<string, string> =>
  header === "authorization" ? { authorization: `Bearer ${key}` } : { [header]: key };

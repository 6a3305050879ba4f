// A kind of provider with the chat-completions shape: its vendor, address, credentials and dialect.
import type { z } from "zod";
import type { Credentials } from "../credentials/credentials.ts";
import { httpProvider } from "../http/http-provider.ts";
import type { ProviderKind } from "../kind.ts";
import type { Wrong } from "../setting.ts";
import type { Dialect } from "./dialects.ts";

export interface ChatVendor {
  /** The value of `providers[].kind`. */
  name: string;
  /** The vendor's name, for people. */
  title: string;
  description: string;
  /** Its own address; absent if each account has its own. */
  baseUrl?: string;
  /** The same, from the settings of its credentials. */
  addressOf?(this: void, own: object): string;
  addressExample?: string;
  /** The vendor's own hosts, or their endings; the host of `baseUrl` is one of them. */
  hosts?: readonly string[];
  /** The ending of an address at its own hosts. */
  addressEnd?: string;
  probePath: string | null;
  credentials: Credentials;
  dialect: z.ZodType<Dialect>;
  /** True if its own hosts also support the Responses shape. */
  responses?: true;
}

interface Own {
  dialect: Dialect;
}

/** Returns the kind for a row of `vendors.ts`. */
export function chatKind(vendor: ChatVendor): ProviderKind {
  const { name, title, description, baseUrl, addressExample, probePath, credentials, dialect } = vendor;
  const kind: ProviderKind<Own> = {
    name,
    description,
    settings: { ...credentials.settings, dialect },
    ...(baseUrl !== undefined && { baseUrl }),
    ...(vendor.addressOf !== undefined && { addressOf: vendor.addressOf }),
    ...(addressExample !== undefined && { addressExample }),
    probePath,
    credential: {
      setting: credentials.setting,
      needed: credentials.needed,
      given: (own) => credentials.given(own),
    },
    wrong: (own, address) =>
      wrongAddress(vendor, address) ??
      credentials.wrong(own, { title, atHome: address === null || isHome(vendor, address) }),
    shown: (own) => ({ dialect: own.dialect }),
    create: async (upstream, own) => {
      const { openAiCodec } = await import("./codec.ts");
      const authorize = credentials.authorize(own);
      const responses =
        own.dialect.responses ?? (vendor.responses === true && isHome(vendor, upstream.baseUrl));
      const told = { ...own.dialect, responses };
      return httpProvider(upstream, openAiCodec({ family: upstream.name, authorize, dialect: told }));
    },
  };
  return kind;
}

/** Returns a complaint about a vendor's own host with a path that it does not serve. */
function wrongAddress(vendor: ChatVendor, address: string | null): Wrong | null {
  const { addressEnd, addressExample } = vendor;
  if (address === null || addressEnd === undefined || !isHome(vendor, address)) return null;
  if (new URL(address).pathname.replace(/\/+$/, "").endsWith(addressEnd)) return null;
  return { setting: "base_url", message: `must end in ${addressEnd}, e.g. ${addressExample}` };
}

function isHome({ hosts = [], baseUrl }: ChatVendor, address: string): boolean {
  const { hostname } = new URL(address);
  const own = baseUrl === undefined ? hosts : [...hosts, new URL(baseUrl).hostname];
  return own.some((host) => (host.startsWith(".") ? hostname.endsWith(host) : hostname === host));
}

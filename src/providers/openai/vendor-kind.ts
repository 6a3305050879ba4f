// A kind of provider that speaks the chat-completions shape: whose it is, where, with what proof and in which dialect.
import type { z } from "zod";
import type { Credentials } from "../credentials/credentials.ts";
import { httpProvider } from "../http/http-provider.ts";
import type { ProviderKind } from "../kind.ts";
import type { Wrong } from "../setting.ts";
import type { Dialect } from "./dialects.ts";

export interface ChatVendor {
  /** The word of `providers[].kind`. */
  name: string;
  /** The vendor's name, for people. */
  title: string;
  description: string;
  /** Its own address; left out where each account has one of its own. */
  baseUrl?: string;
  /** The same, by its credentials' settings. */
  addressOf?(this: void, own: object): string;
  addressExample?: string;
  /** The vendor's own hosts, or what they end in; with `baseUrl` its host is one. */
  hosts?: readonly string[];
  /** What an address at its own hosts ends in. */
  addressEnd?: string;
  probePath: string | null;
  credentials: Credentials;
  dialect: z.ZodType<Dialect>;
  /** The Responses shape is spoken at its own hosts, too. */
  responses?: true;
}

interface Own {
  dialect: Dialect;
}

/** The kind behind a row of `vendors.ts`. */
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

/** A vendor's own host with a path that it does not serve. */
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

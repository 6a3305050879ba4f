// How this process reaches other servers: directly, or, where the network has no other way out, through an HTTP proxy.
import { isIP } from "node:net";
import { bareHost } from "./bare-host.ts";
import { Networks, parseNetwork } from "./networks.ts";

export interface OutboundProxy {
  /** Its address, with the credentials it wants. */
  url: string;
  /** What is reached directly: names with all below them, addresses, networks. */
  except: readonly string[];
}

/** Names and addresses of this machine. */
const OWN = ["localhost", "127.0.0.0/8", "::1"];

/** Whether `text` can be one of the exceptions. */
export const isException = (text: string): boolean =>
  parseNetwork(text) !== null || /^(?:\*?\.)?[a-z\d_-]+(?:\.[a-z\d_-]+)*$/i.test(text);

/**
 * The proxy that leads to an address, null if it is reached directly. A proxy is only ever asked for a tunnel, which shows it
 * names and no contents; so an address without TLS is reached directly.
 */
export function proxyTo(address: string, proxy: OutboundProxy | null): string | null {
  const url = new URL(address);
  if (proxy === null || url.protocol !== "https:") return null;
  const host = bareHost(url);
  const excepted = [...OWN, ...proxy.except].some((exception) => includes(exception, host));
  return excepted ? null : proxy.url;
}

function includes(exception: string, host: string): boolean {
  if (parseNetwork(exception) !== null) return isIP(host) !== 0 && new Networks([exception]).has(host);
  const name = exception.toLowerCase().replace(/^\*?\./, "");
  return host === name || host.endsWith(`.${name}`);
}

/** What the runtime obeys by itself, in either spelling. */
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap(bothSpellings);
const VARIABLES = [...PROXIES, ...bothSpellings("NO_PROXY")];

function bothSpellings(name: string): string[] {
  return [name, name.toLowerCase()];
}

/** The variables that name a proxy, which is not used. */
export const ignoredProxies = (env: Record<string, string | undefined>): string[] =>
  PROXIES.filter((name) => env[name]);

/**
 * Makes the `fetch` of libraries take the same way: it obeys the process's variables, which are replaced, whatever they were.
 * `env` is the process's own.
 */
export function takeProxy(proxy: OutboundProxy | null, env: Record<string, string | undefined>): void {
  for (const name of VARIABLES) delete env[name];
  if (proxy === null) return;
  env["HTTPS_PROXY"] = proxy.url;
  env["NO_PROXY"] = [...OWN, ...proxy.except].join(",");
}

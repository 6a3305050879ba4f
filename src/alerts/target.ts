// Where a message may be sent. These are the only addresses that customers choose, so they are the only way to make this
// gateway call something: https only, no private, loopback, link-local or metadata address under any spelling, and the
// address that was judged is the one that is called (hardening.md S12).
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

export interface Place {
  url: URL;
  /** The judged address, to connect to. */
  address: string;
}

export type ResolveHost = (hostname: string) => Promise<string[]>;

/** Why an address is not called; the words go to the customer who chose it. */
export class TargetRefusal extends Error {}

const LOOKUP_MS = 5_000;

const NOT_PUBLIC = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // carrier-grade NAT
  ["127.0.0.0", 8],
  ["169.254.0.0", 16], // link-local: cloud metadata
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4],
] as const)
  NOT_PUBLIC.addSubnet(network, prefix, "ipv4");
// Of IPv6 only global unicast is public, less what embeds other addresses or goes nowhere.
const GLOBAL_UNICAST = new BlockList();
GLOBAL_UNICAST.addSubnet("2000::", 3, "ipv6");
for (const [network, prefix] of [
  ["2001::", 23], // Teredo and other special uses
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4 embeds an IPv4 address
  ["3fff::", 20],
] as const)
  NOT_PUBLIC.addSubnet(network, prefix, "ipv6");

/** Whether anybody on the internet could mean this address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !NOT_PUBLIC.check(address, "ipv4");
  if (family !== 6) return false;
  return GLOBAL_UNICAST.check(address, "ipv6") && !NOT_PUBLIC.check(address, "ipv6");
}

/** What can be judged without asking the network: when a channel is made. Throws `TargetRefusal`. */
export function readTarget(text: string, allow: { privateTargets: boolean }): URL {
  const url = URL.parse(text.trim());
  if (url === null) throw new TargetRefusal("must be an address like https://hooks.example.com/tollgate");
  const plain = url.protocol === "http:";
  if (url.protocol !== "https:" && !(plain && allow.privateTargets))
    throw new TargetRefusal("must begin with https://");
  if (url.username !== "" || url.password !== "")
    throw new TargetRefusal("must not carry a name or password");
  if (url.hash !== "") throw new TargetRefusal("must not have a fragment");
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(literal) !== 0 && !allow.privateTargets && !isPublicAddress(literal)) throw notPublic();
  if (!allow.privateTargets && isIP(literal) === 0 && !/^[^.]+(\.[^.]+)+$/.test(literal.replace(/\.$/, "")))
    throw new TargetRefusal("must name a host on the internet");
  return url;
}

/** Looks the host up; every address it has must be public. Throws `TargetRefusal`. */
export async function resolveTarget(
  text: string,
  allow: { privateTargets: boolean },
  resolveHost: ResolveHost = resolveBySystem,
): Promise<Place> {
  const url = readTarget(text, allow);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const addresses = isIP(host) === 0 ? await resolveHost(host) : [host];
  const [address] = addresses;
  if (address === undefined) throw new TargetRefusal(`leads nowhere: ${host} has no address`);
  // A name with one public and one private address is a way around the check, never an accident.
  if (!allow.privateTargets && !addresses.every(isPublicAddress)) throw notPublic();
  return { url, address };
}

/** A name that nobody knows now may be known at the next try: that is a failure, not a refusal. */
async function resolveBySystem(hostname: string): Promise<string[]> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`looking up ${hostname} took too long`)), LOOKUP_MS).unref();
  });
  const found = await Promise.race([lookup(hostname, { all: true }), late]);
  return found.map(({ address }) => address);
}

const notPublic = (): TargetRefusal =>
  new TargetRefusal("must not be an address of a private network or of this machine");

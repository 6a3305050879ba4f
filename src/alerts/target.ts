// Decides where a message may be sent. Customers choose no other addresses, so this is the only way to make
// this gateway call something: https only; no private, loopback, link-local or metadata address in any
// spelling; and the address that was checked is the address that is called (hardening.md S12).
import { bareHost } from "../lib/bare-host.ts";
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

/** A target that may be called: `url` gives host and certificate, `address` is where the socket connects. */
export interface ResolvedTarget {
  url: URL;
  /** The checked address. */
  address: string;
}

export type ResolveHost = (hostname: string) => Promise<string[]>;

/** Why an address is not called; the customer who chose it sees the message. */
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
// Only global unicast IPv6 addresses are public, except ranges that embed other addresses or lead nowhere.
const GLOBAL_UNICAST = new BlockList();
GLOBAL_UNICAST.addSubnet("2000::", 3, "ipv6");
for (const [network, prefix] of [
  ["2001::", 23], // Teredo and other special uses
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4 embeds an IPv4 address
  ["3fff::", 20],
] as const)
  NOT_PUBLIC.addSubnet(network, prefix, "ipv6");

/**
 * Addresses where clouds give a machine its credentials: never called, even if private targets are allowed.
 */
const METADATA = new BlockList();
for (const address of [
  "169.254.169.254", // AWS, Google, Azure, Oracle, DigitalOcean, OpenStack
  "169.254.169.253", // AWS resolver
  "169.254.170.2", // AWS container credentials
  "169.254.170.23",
  "169.254.0.23", // Tencent
  "100.100.100.200", // Alibaba
  "168.63.129.16", // Azure host
  "192.0.0.192", // Oracle
])
  METADATA.addAddress(address, "ipv4");
METADATA.addSubnet("169.254.0.0", 16, "ipv4"); // all other link-local addresses, too: no customer's endpoint is there
METADATA.addSubnet("fe80::", 10, "ipv6");
for (const address of ["fd00:ec2::254", "fd00:ec2::253", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42"])
  METADATA.addAddress(address, "ipv6");
const METADATA_NAMES = /^(?:metadata|instance-data|metadata\.[a-z0-9.-]+|instance-data\.ec2\.internal)$/;

/** Also checks every IPv4 address embedded in an IPv6 one. */
const isMetadata = (address: string): boolean =>
  [address, ...embedded(address)].some((one) => METADATA.check(one, isIP(one) === 6 ? "ipv6" : "ipv4"));

/**
 * The IPv4 addresses that an IPv6 address may embed: mapped, compatible, translated, NAT64, 6to4, Teredo,
 * ISATAP.
 */
function embedded(address: string): string[] {
  if (isIP(address) !== 6) return [];
  const groups = groupsOf(address);
  const at = (index: number, turned = 0): string => {
    const [high, low] = [(groups[index] ?? 0) ^ turned, (groups[index + 1] ?? 0) ^ turned];
    return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  };
  // A network can choose its own NAT64 prefix: the last 32 bits count under every private prefix.
  return [at(6), at(1), at(6, 0xffff)];
}

/** The eight groups of an IPv6 address, in the canonical form of `URL`. */
function groupsOf(address: string): number[] {
  const canonical = new URL(`http://[${address.replace(/%.*$/, "")}]`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const read = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const [before, after] = [read(head), tail === undefined ? [] : read(tail)];
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
}

/** True if the address is a public one, reachable over the internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !NOT_PUBLIC.check(address, "ipv4");
  if (family !== 6) return false;
  return GLOBAL_UNICAST.check(address, "ipv6") && !NOT_PUBLIC.check(address, "ipv6");
}

/** Checks what can be checked without the network, when a channel is created. Throws `TargetRefusal`. */
export function readTarget(text: string, allow: { privateTargets: boolean }): URL {
  const url = URL.parse(text.trim());
  if (url === null) throw new TargetRefusal("must be an address like https://hooks.example.com/tollgate");
  const plain = url.protocol === "http:";
  if (url.protocol !== "https:" && !(plain && allow.privateTargets))
    throw new TargetRefusal("must begin with https://");
  if (url.username !== "" || url.password !== "")
    throw new TargetRefusal("must not carry a name or password");
  if (url.hash !== "") throw new TargetRefusal("must not have a fragment");
  const literal = bareHost(url).replace(/\.$/, "");
  if (METADATA_NAMES.test(literal) || (isIP(literal) !== 0 && isMetadata(literal))) throw metadata();
  if (isIP(literal) !== 0 && !allow.privateTargets && !isPublicAddress(literal)) throw notPublic();
  if (!allow.privateTargets && isIP(literal) === 0 && !/^[^.]+(\.[^.]+)+$/.test(literal))
    throw new TargetRefusal("must name a host on the internet");
  return url;
}

/** Resolves the host; every address it has must be public. Throws `TargetRefusal`. */
export async function resolveTarget(
  text: string,
  allow: { privateTargets: boolean },
  resolveHost: ResolveHost = resolveBySystem,
): Promise<ResolvedTarget> {
  const url = readTarget(text, allow);
  const host = bareHost(url);
  const addresses = isIP(host) === 0 ? await resolveHost(host) : [host];
  const [address] = addresses;
  if (address === undefined) throw new TargetRefusal(`cannot be resolved: ${host} has no address`);
  if (addresses.some((found) => isIP(found) === 0 || isMetadata(found))) throw metadata();
  // A name with a public and a private address is an attempt to get around the check, never an accident.
  if (!allow.privateTargets && !addresses.every(isPublicAddress)) throw notPublic();
  return { url, address };
}

/** A name that does not resolve now may resolve at the next try: that is a failure, not a refusal. */
async function resolveBySystem(hostname: string): Promise<string[]> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`looking up ${hostname} took too long`)), LOOKUP_MS).unref();
  });
  const found = await Promise.race([lookup(hostname, { all: true }), late]);
  return found.map(({ address }) => address);
}

const metadata = (): TargetRefusal =>
  new TargetRefusal("must not be an address of a cloud's metadata service or of this link");
const notPublic = (): TargetRefusal =>
  new TargetRefusal("must not be an address of a private network or of this machine");

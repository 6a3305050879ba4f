// Sets of IP networks, as written in settings: an address, or a network such as 10.0.0.0/8 or fd00::/8.
import { BlockList, isIP } from "node:net";

interface Network {
  address: string;
  prefix: number;
  family: "ipv4" | "ipv6";
}

/** Null for text that is neither an address nor a network. */
export function parseNetwork(text: string): Network | null {
  const [, address = "", bits] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0) return null;
  const longest = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? longest : Number(bits);
  return prefix > longest ? null : { address, prefix, family: version === 4 ? "ipv4" : "ipv6" };
}

const GROUPS = 8;
/** The prefix of an IPv4-mapped IPv6 address. */
const MAPPED = "0:0:0:0:0:ffff";

/**
 * The network that an address counts under: for IPv6 its /64, which usually belongs to one customer, or the
 * site's /48. An IPv4-mapped address counts as IPv4; text that is not an address counts as itself.
 */
export function networkOf(address: string, bits: 64 | 48 = 64): string {
  const [plain = ""] = address.split("%", 1);
  if (isIP(plain) !== 6) return address;
  const [left = "", right] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split("::");
  const head = left === "" ? [] : left.split(":");
  const tail = right ? right.split(":") : [];
  const groups = [...head, ...Array<string>(GROUPS - head.length - tail.length).fill("0"), ...tail];
  if (groups.slice(0, 6).join(":") !== MAPPED) return `${groups.slice(0, bits / 16).join(":")}::/${bits}`;
  return groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((word) => [word >> 8, word & 0xff])
    .join(".");
}

export class Networks {
  private readonly list = new BlockList();

  /** `texts`: networks that `parseNetwork` accepts. */
  constructor(texts: readonly string[]) {
    for (const text of texts) {
      const network = parseNetwork(text);
      if (network === null) throw new Error(`${text} is not a network`);
      this.list.addSubnet(network.address, network.prefix, network.family);
    }
  }

  /** An IPv4-mapped address counts as IPv4; text that is not an address is in no network. */
  has(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.list.check(address, version === 4 ? "ipv4" : "ipv6");
  }
}

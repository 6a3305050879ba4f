// Sets of IP networks, as settings name them: an address, or a network like 10.0.0.0/8 or fd00::/8.
import { BlockList, isIP } from "node:net";

interface Network {
  address: string;
  prefix: number;
  family: "ipv4" | "ipv6";
}

/** Null for a text that is neither an address nor a network. */
export function parseNetwork(text: string): Network | null {
  const [, address = "", bits] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0) return null;
  const longest = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? longest : Number(bits);
  return prefix > longest ? null : { address, prefix, family: version === 4 ? "ipv4" : "ipv6" };
}

export class Networks {
  private readonly list = new BlockList();

  /** Of networks that `parseNetwork` takes. */
  constructor(texts: readonly string[]) {
    for (const text of texts) {
      const network = parseNetwork(text);
      if (network === null) throw new Error(`${text} is no network`);
      this.list.addSubnet(network.address, network.prefix, network.family);
    }
  }

  /** An IPv4 address inside an IPv6 one counts as what it is; what is no address is in no network. */
  has(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.list.check(address, version === 4 ? "ipv4" : "ipv6");
  }
}

// Who a request comes from when proxies stand in front: `X-Forwarded-For`, read from the right. Each proxy appends the
// peer that it saw, so a hop counts only while the one that named it is trusted; what a client wrote itself stands to the
// left of that and decides nothing (hardening.md 44).
import { isIP } from "node:net";
import { Networks } from "../lib/networks.ts";

export class ClientAddress {
  private readonly trusted: Networks | null;

  /** Without proxies the header is not read. */
  constructor(proxies: readonly string[]) {
    this.trusted = proxies.length === 0 ? null : new Networks(proxies);
  }

  /** The nearest address that no trusted proxy has; the peer's where the header says nothing that can be read. */
  of(peer: string | null, forwardedFor: string | null): string | null {
    if (this.trusted === null || peer === null || forwardedFor === null) return peer;
    let nearest = peer;
    for (const hop of forwardedFor.split(",").toReversed()) {
      if (!this.trusted.has(nearest)) break;
      const address = addressIn(hop.trim());
      if (address === null) break;
      nearest = address;
    }
    return nearest;
  }
}

/** Some proxies write a port behind the address, and brackets around IPv6. */
function addressIn(hop: string): string | null {
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(hop) ?? [];
  const address = (bracketed ?? dotted ?? hop).toLowerCase();
  return isIP(address) === 0 || address.includes("%") ? null : address;
}

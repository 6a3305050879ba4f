// Finds the client's address behind proxies: `X-Forwarded-For`, read from the right. Each proxy appends the peer that it saw, so a
// hop counts only while the one that named it is trusted. What a client wrote itself is to the left of that and has no effect
// (hardening.md 44).
import { isIP } from "node:net";
import { Networks } from "../lib/networks.ts";

export class ClientAddress {
  private readonly trusted: Networks | null;

  /** Without proxies the header is ignored. */
  constructor(proxies: readonly string[]) {
    this.trusted = proxies.length === 0 ? null : new Networks(proxies);
  }

  /** The nearest address that is not a trusted proxy's; the peer's if the header is not readable. */
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

/** Some proxies append a port to the address, and put brackets around IPv6. */
function addressIn(hop: string): string | null {
  const [, bracketed, dotted] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(hop) ?? [];
  const address = (bracketed ?? dotted ?? hop).toLowerCase();
  return isIP(address) === 0 || address.includes("%") ? null : address;
}

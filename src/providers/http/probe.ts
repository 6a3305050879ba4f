// Checks that the provider's host accepts connections at all, before a request is begun. Bun's fetch has no connect
// timeout, cannot tell "never connected" from "no answer yet", and reports every TLS error as a failed handshake,
// even one after the request was written. A probe can tell, so a dead host is proof of non-execution (money.md §2).
// Busy providers are not probed: a host that answered lately is up.
import { bareHost } from "../../lib/bare-host.ts";
import { Failure } from "../failure.ts";
import { type Host, noConnectionFor, type Open, openingThrough } from "./opening.ts";

/** An answer this recent makes a probe unnecessary. */
const FRESH_MS = 10_000;

/** The probe of one host; concurrent calls share one check. */
export class ConnectProbe {
  private heardAtMs = Number.NEGATIVE_INFINITY;
  /** TLS worked there the last time, so it is enough to connect to its port. */
  private handshakeKnown: boolean;
  private checking: Promise<Failure | null> | null = null;
  private readonly host: Host;
  private readonly secure: boolean;

  constructor(
    baseUrl: string,
    private readonly connectMs: number,
    private readonly proxy: string | null = null,
    private readonly open: Open = openingThrough(proxy),
  ) {
    const url = new URL(baseUrl);
    this.secure = url.protocol === "https:";
    this.handshakeKnown = !this.secure;
    this.host = {
      hostname: bareHost(url),
      port: Number(url.port) || (this.secure ? 443 : 80),
    };
  }

  /** Called when the provider has just answered. */
  answered(): void {
    this.heardAtMs = performance.now();
    this.handshakeKnown = true;
  }

  /** Called when a connection was lost before any answer: the next call probes again, TLS included. */
  suspect(): void {
    this.heardAtMs = Number.NEGATIVE_INFINITY;
    this.handshakeKnown = !this.secure;
  }

  /** Returns null if nothing speaks against calling; calls that arrive together share one probe. */
  check(): Promise<Failure | null> | null {
    return performance.now() - this.heardAtMs < FRESH_MS ? null : (this.checking ?? this.begin());
  }

  private begin(): Promise<Failure | null> {
    this.checking = this.ask().finally(() => {
      this.checking = null;
    });
    return this.checking;
  }

  private async ask(): Promise<Failure | null> {
    const giveUp = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<Failure>((resolve) => {
      const failure = new Failure("connect_timeout", "no", `no connection within ${this.connectMs} ms`);
      timer = setTimeout(resolve, this.connectMs, failure);
    });
    try {
      return await Promise.race([this.connect(giveUp.signal), late]);
    } finally {
      clearTimeout(timer);
      giveUp.abort();
    }
  }

  private async connect(signal: AbortSignal): Promise<Failure | null> {
    try {
      await this.open(this.host, !this.handshakeKnown, signal);
      this.answered();
      return null;
    } catch (error) {
      return noConnectionFor(error, this.proxy);
    }
  }
}

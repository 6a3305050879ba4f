// Whether the provider's host takes connections at all, asked before a request is begun. Bun's fetch has no connect
// timeout and cannot tell "never connected" from "no answer yet"; a knock can, so a dead host is proof of non-execution
// (money.md §2). Busy providers are not knocked at: whoever answered lately is there.
import { Failure } from "./failure.ts";

/** An answer this fresh makes a knock needless. */
const FRESH_MS = 10_000;

interface Host {
  hostname: string;
  port: number;
}

async function openAndClose(host: Host): Promise<void> {
  await Bun.connect({ ...host, socket: { open: (socket) => void socket.end(), data: () => {} } });
}

export class Knock {
  private heardAtMs = Number.NEGATIVE_INFINITY;
  private knocking: Promise<Failure | null> | null = null;
  private readonly host: Host;

  constructor(
    baseUrl: string,
    private readonly connectMs: number,
    private readonly open: (host: Host) => Promise<void> = openAndClose,
  ) {
    const url = new URL(baseUrl);
    this.host = {
      hostname: url.hostname.replace(/^\[|\]$/g, ""), // IPv6
      port: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
    };
  }

  /** The provider has just answered something. */
  heard(): void {
    this.heardAtMs = performance.now();
  }

  /** Null when nothing speaks against calling; calls that arrive together share one knock. */
  answer(): Promise<Failure | null> | null {
    if (performance.now() - this.heardAtMs < FRESH_MS) return null;
    this.knocking ??= this.ask().finally(() => {
      this.knocking = null;
    });
    return this.knocking;
  }

  private async ask(): Promise<Failure | null> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<Failure>((resolve) => {
      const failure = new Failure("connect_timeout", "no", `no connection within ${this.connectMs} ms`);
      timer = setTimeout(resolve, this.connectMs, failure);
    });
    try {
      return await Promise.race([this.connect(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  private async connect(): Promise<Failure | null> {
    try {
      await this.open(this.host);
      this.heard();
      return null;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
      return new Failure("connect", "no", `no connection to the upstream (${code})`);
    }
  }
}

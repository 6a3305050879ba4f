// A network whose only way out is an HTTP proxy: behind it, every name leads to one TLS server in front of a plain one.
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { CERTIFICATE } from "./certificate.ts";

/**
 * What the proxy does when it is asked for a tunnel: opens it, opens one to somebody who closes at the first byte (`deaf`), answers
 * with this status line, says nothing, or closes.
 */
export type Mood = "open" | "deaf" | "silent" | "closed" | { status: string };

const OPENED = "HTTP/1.1 200 Connection established\r\n\r\n";

export class TunnelProxy {
  mood: Mood = "open";
  /** The requests for tunnels, with their headers, in order. */
  readonly asked: string[] = [];
  /** Open tunnels. */
  readonly tunnels = new Set<Socket>();
  /** The plain server behind the TLS server; empty: nobody answers in the tunnels. */
  target = "";
  /** Connections that are open, with or without a tunnel. */
  open = 0;

  private constructor(
    private readonly proxy: Server,
    private readonly front: Server,
    private readonly secure: boolean,
  ) {}

  /** `secure`: the proxy itself is reached by TLS. */
  static async start({ secure = false } = {}): Promise<TunnelProxy> {
    const accept = (client: Socket): void => network.accept(client);
    const proxy = secure ? createTlsServer(CERTIFICATE, accept) : createServer(accept);
    const front = createTlsServer(CERTIFICATE, (client) => {
      if (network.target !== "") join(client, network.target);
    });
    front.on("tlsClientError", () => {});
    const network = new TunnelProxy(proxy, front, secure);
    for (const server of [proxy, front])
      await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return network;
  }

  get url(): string {
    return `${this.secure ? "https" : "http"}://127.0.0.1:${portOf(this.proxy)}`;
  }

  /** The TLS server, without the proxy. */
  get direct(): string {
    return `https://127.0.0.1:${portOf(this.front)}`;
  }

  /** Breaks every tunnel. */
  cut(): void {
    for (const tunnel of this.tunnels) tunnel.resetAndDestroy();
  }

  stop(): void {
    this.cut();
    this.proxy.close();
    this.front.close();
  }

  private accept(client: Socket): void {
    this.open += 1;
    client.on("error", () => {});
    client.once("close", () => (this.open -= 1));
    client.once("data", (head) => {
      this.asked.push(head.toString());
      const { mood } = this;
      if (mood === "silent") client.resume();
      else if (mood === "closed") client.destroy();
      else if (mood === "deaf") {
        client.once("data", () => client.destroy());
        client.write(OPENED);
      } else if (mood !== "open") client.end(`HTTP/1.1 ${mood.status}\r\ncontent-length: 0\r\n\r\n`);
      else {
        this.tunnels.add(client);
        client.once("close", () => this.tunnels.delete(client));
        client.write(OPENED);
        join(client, this.direct);
      }
    });
  }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Passes on what one says to the server at `url`, and back. */
function join(one: Socket, url: string): void {
  const { hostname, port } = new URL(url);
  const other = connect(Number(port), hostname);
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to);
    from.on("error", () => {});
    from.once("close", () => to.destroy());
  }
}

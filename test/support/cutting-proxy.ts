// A TCP proxy in front of PostgreSQL that breaks connections at chosen moments, as a network may do between a
// statement and its answer.
import { createServer, type Server, type Socket, connect } from "node:net";

/**
 * `before`: the bytes that contain the word never arrive; `after`: they arrive, but their answer never comes back;
 * `silent`: they never arrive, and the connection stays open.
 */
type Cut = {
  word: string;
  when: "before" | "after" | "after, and stay away" | "before, and stay away" | "silent";
};

export class CuttingProxy {
  /** The number of connections that were cut. */
  cuts = 0;
  private next: Cut | null = null;
  private open = true;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private target: { host: string; port: number },
  ) {}

  static async start(databaseUrl: string): Promise<CuttingProxy> {
    const { hostname, port } = new URL(databaseUrl);
    const server = createServer({ pauseOnConnect: true });
    const proxy = new CuttingProxy(server, { host: hostname, port: Number(port || 5432) });
    server.on("connection", (client) => proxy.accept(client));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return proxy;
  }

  /** The database's URL through this proxy. */
  through(databaseUrl: string): string {
    const address = this.server.address();
    const url = new URL(databaseUrl);
    url.hostname = "127.0.0.1";
    url.port = String(typeof address === "object" && address !== null ? address.port : 0);
    return url.href;
  }

  /** Cuts the next connection that sends this word. */
  cutAt(word: string, when: Cut["when"]): void {
    this.next = { word, when };
  }

  /** Cancels pending cuts. */
  spare(): void {
    this.next = null;
  }

  /** Refuses and ends every connection until `restore`. */
  close(): void {
    this.open = false;
    for (const socket of this.sockets) socket.destroy();
  }

  restore(): void {
    this.open = true;
  }

  /** Switches to another server, as after a failover. */
  moveTo(databaseUrl: string): void {
    const { hostname, port } = new URL(databaseUrl);
    this.target = { host: hostname, port: Number(port || 5432) };
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.close();
    await new Promise((stopped) => this.server.close(stopped));
  }

  private accept(client: Socket): void {
    if (!this.open) {
      client.destroy();
      return;
    }
    const upstream = connect(this.target);
    const both = [client, upstream];
    let deaf = false;
    const end = (): void => both.forEach((socket) => socket.destroy());
    for (const socket of both) {
      this.sockets.add(socket);
      socket.on("error", end);
      socket.on("close", () => {
        this.sockets.delete(socket);
        if (!deaf) end();
      });
    }
    client.on("data", (bytes: Buffer) => {
      const cut = this.next;
      if (cut === null || !bytes.includes(cut.word)) {
        upstream.write(bytes);
        return;
      }
      this.next = null;
      this.cuts += 1;
      if (cut.when.endsWith("and stay away")) this.open = false;
      if (cut.when.startsWith("before")) return end();
      if (cut.when === "silent") return void client.pause();
      deaf = true;
      upstream.write(bytes, () => {
        client.destroy();
        upstream.end();
      });
    });
    upstream.on("data", (bytes: Buffer) => {
      if (!deaf) client.write(bytes);
    });
    client.resume();
  }
}

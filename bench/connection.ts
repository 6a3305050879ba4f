// One keep-alive HTTP/1.1 connection on a raw socket: the smallest client that frames replies correctly, so that the
// generator costs less than what it measures. One request at a time; replies with content-length or chunked bodies
// only.
import { ReplyReader } from "./reply-reader.ts";
import type { Reply } from "./reply-reader.ts";

export interface Origin {
  hostname: string;
  port: number;
}

interface Waiting {
  reader: ReplyReader;
  resolve: (reply: Reply) => void;
  reject: (reason: Error) => void;
}

export class Connection {
  #socket: Bun.Socket | null = null;
  #waiting: Waiting | null = null;
  #unsent: Uint8Array | null = null;
  readonly #origin: Origin;

  private constructor(origin: Origin) {
    this.#origin = origin;
  }

  static async open(origin: Origin): Promise<Connection> {
    const connection = new Connection(origin);
    await connection.#connect();
    return connection;
  }

  async #connect(): Promise<void> {
    this.#socket = await Bun.connect({
      ...this.#origin,
      socket: {
        open: (socket) => void socket.setNoDelay(true),
        data: (_socket, bytes) => this.#read(bytes),
        drain: () => this.#flush(),
        close: () => this.#lost("connection closed"),
        error: (_socket, error) => this.#lost(error.message),
      },
    });
  }

  /** Sends prepared request bytes and resolves with the whole reply; `keepBody` also keeps its text. */
  async send(request: Uint8Array, keepBody: "keep-body" | "count-only" = "count-only"): Promise<Reply> {
    if (this.#socket === null) await this.#connect();
    return new Promise((resolve, reject) => {
      this.#waiting = { reader: new ReplyReader(keepBody === "keep-body"), resolve, reject };
      this.#unsent = request;
      this.#flush();
    });
  }

  /** Events so far of the current reply, for callers that leave in its middle. */
  get eventsSoFar(): number {
    return this.#waiting?.reader.events ?? 0;
  }

  /** Stops reading: what the peer sends from now on stays in the kernel, then in the peer. */
  stall(): void {
    this.#socket?.pause();
  }

  /** Closes at once; a pending reply is rejected. */
  close(): void {
    this.#socket?.terminate();
    this.#socket = null;
  }

  #flush(): void {
    if (this.#unsent === null || this.#socket === null) return;
    const written = Math.max(0, this.#socket.write(this.#unsent));
    this.#unsent = written === this.#unsent.byteLength ? null : this.#unsent.subarray(written);
  }

  #read(bytes: Uint8Array): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    const reply = waiting.reader.push(bytes);
    if (reply === null) return;
    this.#waiting = null;
    if (reply.closes) this.close();
    waiting.resolve(reply);
  }

  #lost(reason: string): void {
    this.#socket = null;
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(new Error(reason));
  }
}

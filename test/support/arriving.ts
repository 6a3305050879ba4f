// Reads answers as they arrive, on a raw socket: when the connection breaks, a library discards what it has read and
// not yet handed out, so the client of a killed gateway would seem to have got less than it was sent.
import { connect } from "node:net";

/** What came back, as far as it came: a killed gateway cuts its answers off. */
export interface Received {
  status: number | null;
  headers: Headers;
  text: string;
  whole: boolean;
  /** The reason why it is incomplete. */
  error: string | null;
}

export interface Arriving {
  sofar: Received;
  ended: Promise<Received>;
}

const nothing = (): Received => ({
  status: null,
  headers: new Headers(),
  text: "",
  whole: false,
  error: null,
});

/** Sends JSON; `sofar` grows with every byte that arrives. */
export function post(
  url: string,
  { headers, body }: { headers: Record<string, string>; body: string },
): Arriving {
  const { hostname, port, host, pathname } = new URL(url);
  const sofar = nothing();
  const reading = new Reading(sofar);
  const sent = {
    host,
    connection: "close",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  };
  const head = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
  const ended = new Promise<Received>((resolve) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`POST ${pathname} HTTP/1.1\r\n${head.join("")}\r\n${body}`),
    );
    socket.on("data", (bytes: Buffer) => {
      reading.take(bytes);
      if (sofar.whole) socket.destroy();
    });
    socket.on("error", (error) => {
      sofar.error = String(error);
    });
    socket.on("close", () => {
      reading.close();
      if (!sofar.whole) sofar.error ??= "the connection ended";
      resolve(sofar);
    });
  });
  return { sofar, ended };
}

/** The same for an answer that a library reads. */
export async function received(answer: Promise<Response>): Promise<Received> {
  const all = nothing();
  try {
    const response = await answer;
    all.status = response.status;
    all.headers = response.headers;
    all.text = await response.text();
    all.whole = true;
  } catch (error) {
    all.error = String(error); // the gateway or the connection died
  }
  return all;
}

const HEAD_END = "\r\n\r\n";

/** Parses one HTTP/1.1 answer: chunked, with content-length, or until the connection closes. */
class Reading {
  private unread = Buffer.alloc(0);
  private readonly decoder = new TextDecoder();
  /** Remaining bytes of the body, or of the chunk; null before they are known. */
  private left: number | null = null;
  private isChunked = false;

  constructor(private readonly into: Received) {}

  take(bytes: Buffer): void {
    this.unread = Buffer.concat([this.unread, bytes]);
    if (this.into.status === null && !this.head()) return;
    if (this.isChunked) while (this.chunk());
    else this.text(this.left ?? this.unread.length);
    if (!this.isChunked && this.left === 0) this.into.whole = true;
  }

  /** Without a length, the end of the connection is the end of the answer. */
  close(): void {
    if (this.into.status !== null && !this.isChunked && this.left === null) this.into.whole = true;
  }

  private head(): boolean {
    const end = this.unread.indexOf(HEAD_END);
    if (end === -1) return false;
    const [first = "", ...lines] = this.unread.subarray(0, end).toString("latin1").split("\r\n");
    this.unread = this.unread.subarray(end + HEAD_END.length);
    const { headers } = this.into;
    for (const line of lines) {
      const colon = line.indexOf(":");
      headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
    }
    this.into.status = Number(first.split(" ")[1]);
    this.isChunked = headers.get("transfer-encoding") === "chunked";
    const length = headers.get("content-length");
    if (!this.isChunked && length !== null) this.left = Number(length);
    return true;
  }

  /** Parses one step of a chunked body; false if more bytes are needed, or none will come. */
  private chunk(): boolean {
    if (this.left === null) {
      const end = this.unread.indexOf("\r\n");
      if (end === -1) return false;
      this.left = Number.parseInt(this.unread.subarray(0, end).toString("latin1"), 16);
      this.unread = this.unread.subarray(end + 2);
      if (this.left > 0) return true;
      this.into.whole = true;
      return false;
    }
    if (this.left > 0) {
      const before = this.left;
      this.text(this.left);
      return this.left < before;
    }
    if (this.unread.length < 2) return false;
    this.unread = this.unread.subarray(2);
    this.left = null;
    return true;
  }

  private text(atMost: number): void {
    const bytes = this.unread.subarray(0, atMost);
    this.unread = this.unread.subarray(bytes.length);
    if (this.left !== null) this.left -= bytes.length;
    this.into.text += this.decoder.decode(bytes, { stream: true });
  }
}

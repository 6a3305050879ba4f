// Opens a connection to a provider's host and closes it, directly or through a proxy, for the probe (`probe.ts`).
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { messageOf } from "../../domain/error-message.ts";
import { bareHost } from "../../lib/bare-host.ts";
import { type Failure, noConnection, noTunnel } from "../failure.ts";

export interface Host {
  hostname: string;
  port: number;
}

/**
 * Opens a connection and closes it; with `handshake`, only after the TLS handshake. Throws an error with a `code`. When the
 * signal fires, nobody waits any more: what is open is closed.
 */
export type Open = (host: Host, handshake: boolean, signal: AbortSignal) => Promise<void>;

/** `proxy` as `lib/outbound.ts` names it; null: directly. */
export const openingThrough = (proxy: string | null): Open =>
  proxy === null
    ? (host, handshake, signal) => (handshake ? shakeHands(host, signal) : connect(host))
    : (host, handshake, signal) => openTunnel(new URL(proxy), { host, handshake, signal });

async function connect(host: Host): Promise<void> {
  await Bun.connect({ ...host, socket: { open: (socket) => void socket.end(), data: () => {} } });
}

/** Certificates are left to the call itself: its error for them cannot come later than the handshake. */
async function shakeHands(host: Host, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = await Bun.connect({
    ...host,
    tls: { rejectUnauthorized: false, serverName: host.hostname },
    socket: {
      handshake(own, well, error) {
        if (well) resolve();
        else reject(error ?? new Error("the TLS handshake failed"));
        own.end();
      },
      data() {},
      error() {}, // what follows the handshake does not matter
      close: () => reject(new Error("closed before the TLS handshake")),
    },
  });
  const leave = (): void => socket.terminate();
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  await promise;
}

interface Tunnelled {
  host: Host;
  handshake: boolean;
  signal: AbortSignal;
}

async function openTunnel(proxy: URL, { host, handshake, signal }: Tunnelled): Promise<void> {
  const secure = proxy.protocol === "https:";
  const at = { host: bareHost(proxy), port: Number(proxy.port) || (secure ? 443 : 80) };
  // It is given a password, so it has to be who it says it is.
  const socket = secure ? connectTls(at) : connectPlain(at);
  const leave = (): void => void socket.destroy();
  signal.addEventListener("abort", leave, { once: true });
  try {
    await happens(socket, secure ? "secureConnect" : "connect");
    socket.write(connectRequest(proxy, host));
    const status = await statusOf(socket);
    if (status < 200 || status > 299) throw new TunnelRefused(status);
    if (handshake) {
      const name = isIP(host.hostname) === 0 ? { servername: host.hostname } : {};
      await happens(connectTls({ socket, ...name, rejectUnauthorized: false }), "secureConnect");
    }
  } finally {
    signal.removeEventListener("abort", leave);
    socket.destroy();
  }
}

function connectRequest({ username, password }: URL, { hostname, port }: Host): string {
  const authority = `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const basic = Buffer.from(credentials).toString("base64");
  const proof = username === "" ? "" : `Proxy-Authorization: Basic ${basic}\r\n`;
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${proof}\r\n`;
}

/** Waits for an event; rejects if the socket fails or closes before. */
function happens(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once(event, resolve);
  socket.on("error", reject);
  socket.once("close", () => reject(new Error("closed before the connection was open")));
  return promise;
}

/** More than any proxy says about a tunnel. */
const HEAD_BYTES_MAX = 16 * 1024;

/** The status of the response to CONNECT, once its head is complete. */
function statusOf(socket: Socket): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let head = "";
  const read = (bytes: Buffer): void => {
    head += bytes.toString("latin1");
    if (!head.includes("\r\n\r\n") && head.length < HEAD_BYTES_MAX) return;
    socket.off("data", read);
    const [, status] = /^HTTP\/1\.[01] (\d{3})\b/.exec(head) ?? [];
    if (status === undefined) reject(new Error("the proxy's answer is not HTTP"));
    else resolve(Number(status));
  };
  socket.on("data", read);
  socket.once("close", () => reject(new Error("the proxy closed the connection")));
  return promise;
}

/** As Bun's fetch names it. */
const TUNNEL = "ERR_PROXY_TUNNEL";

class TunnelRefused extends Error {
  readonly code = TUNNEL;
  constructor(status: number) {
    super(`the proxy refused: ${status}`);
  }
}

/** The failure for the error of a connection that was not established, directly or through the proxy. */
export function noConnectionFor(error: unknown, proxy: string | null): Failure {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  if (code === TUNNEL) return noTunnel(/: (\d{3})\b/.exec(messageOf(error))?.[1] ?? "no status");
  return noConnection(code, proxy === null ? "the upstream" : "the upstream through the proxy");
}

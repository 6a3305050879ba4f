// Sends one POST to a customer's URL: connects to the address that was checked, verifies the certificate for the host
// name, follows no redirect, and reads only the status of the response. Uses a socket of its own instead of fetch,
// whose single thread also carries the calls to providers: a receiver that sent interim responses endlessly kept that
// thread busy.
import { bareHost } from "../lib/bare-host.ts";
import { connect, isIP, type Socket } from "node:net";
import { checkServerIdentity, connect as connectSecurely } from "node:tls";
import { type Sent, TRY_MS } from "./sent.ts";
import { type ResolvedTarget, type ResolveHost, resolveTarget, TargetRefusal } from "./target.ts";

export interface PostPorts {
  privateTargets: boolean;
  /** The system's resolver by default; tests may supply their own. */
  resolveHost?: ResolveHost;
}

/** 410 Gone: the receiver asks for no more messages (Standard Webhooks). */
const GONE = 410;

/**
 * Never throws: a disallowed target, a name that does not resolve and a receiver that hangs are returned as a
 * sentence.
 */
export async function post(
  target: string,
  message: { headers: Record<string, string>; body: string },
  on: PostPorts,
): Promise<Sent> {
  try {
    return judge(await answered(await resolveTarget(target, on, on.resolveHost), message));
  } catch (error) {
    if (error instanceof TargetRefusal)
      return { kind: "refused", status: null, error: `The target ${error.message}.` };
    return { kind: "failed", status: null, error: sentenceOf(error) };
  }
}

/** Returns the status of the response. Rejects if none arrives in time, or if it is not HTTP. */
async function answered(
  { url, address }: ResolvedTarget,
  { headers, body }: { headers: Record<string, string>; body: string },
): Promise<number> {
  const lines = Object.entries({
    host: url.host,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    "user-agent": "Tollgate alerts",
    connection: "close",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  const request = [`POST ${url.pathname}${url.search} HTTP/1.1`, ...lines, "", body].join("\r\n");
  const socket: Socket = open(url, address, () => socket.write(request));
  socket.on("error", () => {}); // the reader receives the error
  const late = setTimeout(() => socket.destroy(new DOMException("too late", "TimeoutError")), TRY_MS);
  try {
    let head = "";
    for await (const piece of socket.setEncoding("latin1")) {
      head += String(piece);
      const status = statusIn(head);
      if (status !== null) return status;
      if (head.length > HEAD_CHARACTERS) break;
    }
    throw malformed();
  } finally {
    clearTimeout(late);
    socket.destroy();
  }
}

function open(url: URL, address: string, opened: () => void): Socket {
  const name = bareHost(url);
  const secure = url.protocol === "https:";
  const at = { host: address, port: Number(url.port) || (secure ? 443 : 80) };
  if (!secure) return connect(at, opened);
  const identity = {
    ...(isIP(name) === 0 && { servername: name }),
    checkServerIdentity: (_: string, certificate: Parameters<typeof checkServerIdentity>[1]) =>
      checkServerIdentity(name, certificate),
  };
  return connectSecurely({ ...at, ...identity, rejectUnauthorized: true }, opened);
}

/** Interim responses included. */
const HEAD_CHARACTERS = 16 * 1024;
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: [^\r\n]*)?\r?\n/;

/** The status of the first final response; null if it has not arrived yet. Throws if the data is not HTTP. */
function statusIn(head: string): number | null {
  const line = STATUS_LINE.exec(head);
  if (line === null) return null;
  const status = Number(line[1]);
  if (status < 100 || status > 599 || status === 101) throw malformed();
  if (status >= 200) return status;
  const end = head.indexOf("\r\n\r\n");
  return end === -1 ? null : statusIn(head.slice(end + 4));
}

const malformed = (): Error => Object.assign(new Error("no HTTP"), { code: "no HTTP response" });

function judge(status: number): Sent {
  if (status >= 200 && status < 300) return { kind: "delivered", status };
  const redirects = status >= 300 && status < 400;
  const error = redirects ? `It answered ${status}; redirects are not followed.` : `It answered ${status}.`;
  return { kind: status === GONE ? "refused" : "failed", status, error };
}

function sentenceOf(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError")
    return `No answer within ${TRY_MS / 1000} seconds.`;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code.includes("CERT") || code.includes("TLS")) return `The certificate is not valid (${code}).`;
  return `No connection${code === "" ? "" : ` (${code})`}.`;
}

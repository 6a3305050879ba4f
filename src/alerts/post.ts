// One POST to a customer's address: to the address that was judged, with the name's certificate, no redirect followed,
// nothing of the answer read but its status.
import { isIP } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { type Sent, TRY_MS } from "./sent.ts";
import { type ResolveHost, resolveTarget, TargetRefusal } from "./target.ts";

export interface PostPorts {
  privateTargets: boolean;
  /** The system's resolver, unless a test brings its own. */
  resolveHost?: ResolveHost;
}

/** Gone: the receiver asks to be left alone (Standard Webhooks). */
const GONE = 410;

/**
 * Never throws: a target that is not allowed, a name that does not resolve and a receiver that hangs are answers, in a
 * sentence.
 */
export async function post(
  target: string,
  message: { headers: Record<string, string>; body: string },
  on: PostPorts,
): Promise<Sent> {
  try {
    const { url, address } = await resolveTarget(target, on, on.resolveHost);
    const pinned = new URL(url);
    pinned.hostname = isIP(address) === 6 ? `[${address}]` : address;
    const name = url.hostname.replace(/^\[|\]$/g, "");
    const response = await fetch(pinned, {
      method: "POST",
      body: message.body,
      redirect: "manual",
      decompress: false,
      signal: AbortSignal.timeout(TRY_MS),
      headers: {
        "content-type": "application/json",
        "user-agent": "Tollgate alerts",
        ...message.headers,
        host: url.host,
      },
      tls: {
        serverName: name,
        checkServerIdentity: (_: string, certificate: PeerCertificate) =>
          checkServerIdentity(name, certificate),
      },
    });
    await response.body?.cancel();
    return judge(response.status);
  } catch (error) {
    if (error instanceof TargetRefusal)
      return { kind: "refused", status: null, error: `The target ${error.message}.` };
    return { kind: "failed", status: null, error: sentenceOf(error) };
  }
}

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

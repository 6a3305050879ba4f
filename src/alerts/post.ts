// Sends one POST to a customer's URL: connects to the address that was checked, verifies the certificate for
// the host name, follows no redirect, and reads only the status of the response.
import { isIP } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { type Sent, TRY_MS } from "./sent.ts";
import { type ResolveHost, resolveTarget, TargetRefusal } from "./target.ts";

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

// One POST to a customer's address: to the address that was judged, with the name's certificate, no redirect followed,
// nothing of the answer read but its status.
import { isIP } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { type ResolveHost, resolveTarget, TargetRefusal } from "./target.ts";

export interface PostPorts {
  privateTargets: boolean;
  /** The system's resolver, unless a test brings its own. */
  resolveHost?: ResolveHost;
}

export type Posted = { kind: "answered"; status: number } | { kind: "refused" | "failed"; error: string };

const TIMEOUT_MS = 10_000;

export async function post(
  target: string,
  message: { headers: Record<string, string>; body: string },
  on: PostPorts,
): Promise<Posted> {
  try {
    const { url, address } = await resolveTarget(target, on, on.resolveHost);
    const pinned = new URL(url);
    pinned.hostname = isIP(address) === 6 ? `[${address}]` : address;
    const name = url.hostname.replace(/^\[|\]$/g, "");
    const response = await fetch(pinned, {
      method: "POST",
      body: message.body,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
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
    return { kind: "answered", status: response.status };
  } catch (error) {
    if (error instanceof TargetRefusal) return { kind: "refused", error: `The target ${error.message}.` };
    return { kind: "failed", error: sentenceOf(error) };
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return "No answer within 10 seconds.";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code.includes("CERT") || code.includes("TLS")) return `The certificate is not valid (${code}).`;
  return `No connection${code === "" ? "" : ` (${code})`}.`;
}

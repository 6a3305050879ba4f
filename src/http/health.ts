// GET /healthz, /readyz and /metrics (interfaces.md §5). `/healthz` says only that the process answers.
import { authorizationOf } from "../domain/credential.ts";
import { Refusal } from "../domain/refusals.ts";
import { bearerOf } from "../registry/bearer.ts";
import { parseManagementKey } from "../registry/secret.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { wantNow } from "../lib/shortage.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { Handler, HttpContext } from "./context.ts";
import { replyJson } from "./reply.ts";
import type { ManagementKeyDoor } from "../registry/management-keys.ts";

export const healthz: Handler = (context) => replyJson(context, { status: "ok" });

/** 200 while requests are wanted; 503 without the store or descriptors, and once the gateway is told to stop. */
export const readyz =
  (ports: { ledger: Pick<Ledger, "ready">; leaving(): boolean }): Handler =>
  (context) => {
    if (ports.leaving())
      throw new Refusal("overloaded", "The gateway is stopping. Send the request to another one.", {
        retryAfterMs: 5000,
      });
    if (!ports.ledger.ready())
      throw new Refusal("overloaded", "The store cannot be reached.", { retryAfterMs: 1000 });
    if (wantNow() !== null)
      throw new Refusal("overloaded", "The gateway can take no new connection: no file descriptor is left.", {
        retryAfterMs: 1000,
      });
    return replyJson(context, { status: "ready" });
  };

/** Proxies set these headers: their request is not the peer's own, whether or not the setting names the proxy. */
const OF_PROXIES = [
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "forwarded",
  "via",
];
const LOOPBACK = new Set(["127.0.0.1", "::1", "::ffff:127.0.0.1"]);

/** Prometheus text; for loopback, or with a management key (S34). */
export const metrics =
  (ports: { metrics: Metrics; managementKeys: ManagementKeyDoor }): Handler =>
  async (context) => {
    if (!(await mayRead(context, ports.managementKeys))) {
      throw new Refusal(
        "invalid_api_key",
        "Metrics are only for the operator. Fetch them from the gateway's own machine, or with a management key.",
      );
    }
    const { text, contentType } = await ports.metrics.print();
    return new Response(text, {
      headers: {
        "content-type": contentType,
        "cache-control": "no-store",
        "x-request-id": context.requestId,
      },
    });
  };

async function mayRead({ address, peer, request }: HttpContext, keys: ManagementKeyDoor): Promise<boolean> {
  // A proxy on this machine does not count as loopback, nor does what one elsewhere says of its client.
  const passedOn = OF_PROXIES.some((name) => request.headers.has(name));
  if (!passedOn && [peer, address].every((one) => one !== null && LOOPBACK.has(one))) return true;
  const key = parseManagementKey(bearerOf(authorizationOf(request.headers)));
  return key !== null && (await keys.authenticateManagementKey(key.id, key.digest)) !== null;
}

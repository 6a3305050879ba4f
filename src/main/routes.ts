// The table of all routes (S8: what is not declared here does not exist).
import type { HeldNothingJson } from "../api/shapes/requests.ts";
import type { RequestLogEntry } from "../domain/request-log.ts";
import type { CompletePorts } from "../gateway/complete.ts";
import type { Format } from "../gateway/formats/format.ts";
import type { PreviewPorts } from "../gateway/preview.ts";
import type { ReceiptSigner } from "../gateway/signed-receipt.ts";
import { tokenCounts } from "../http/count-tokens.ts";
import { surface } from "../http/surface.ts";
import type { Handler } from "../http/context.ts";
import { credits } from "../http/credits.ts";
import { generation } from "../http/generation.ts";
import { healthz, metrics, readyz } from "../http/health.ts";
import { key } from "../http/key.ts";
import { model, models, type ModelsPorts } from "../http/models.ts";
import { quote } from "../http/quote.ts";
import { jwks, receipts } from "../http/receipts.ts";
import type { Route } from "../http/router.ts";
import { storedResponses } from "../http/stored-responses.ts";
import type { EventStreams } from "../http/sse.ts";
import type { Uploads } from "../limits/uploads.ts";
import { paymentWebhook } from "../http/webhooks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { ManagementKeyDoor } from "../registry/management-keys.ts";
import type { Tracing } from "../tracing/tracing.ts";

export interface RoutePorts {
  formats: readonly Format[];
  ledger: Ledger;
  managementKeys: ManagementKeyDoor;
  clock: Clock;
  complete: CompletePorts & PreviewPorts;
  streams: EventStreams;
  routeTable: ModelsPorts["routeTable"];
  metrics: Metrics;
  receipts: ReceiptSigner;
  admin: Handler;
  payments: Parameters<typeof paymentWebhook>[0];
  uploads: Uploads;
  bodyBytes: number;
  streamIdleMs: number;
  /** True once told to stop, while it may still serve. */
  leaving(): boolean;
  draining(): boolean;
  noteHeldNothing(entry: RequestLogEntry): void;
  heldNothing(requestId: string): Promise<HeldNothingJson | null>;
  overloaded(): void;
  refused(code: string): void;
  tracing: Tracing | null;
}

/** A surface responds at its path, and to quotes below it. */
function surfaceRoutes(ports: RoutePorts, format: Format): Route[] {
  const answer = surface(ports, format);
  const door = { methods: ["POST"], door: "inference", format } as const;
  return [
    { path: format.path, ...door, surface: format.surface, handler: (context) => answer(context) },
    { path: `${format.path}/quote`, ...door, handler: quote(format, ports) },
  ];
}

/** Each route has a door; the door checks who may come in, not the path. */
export function httpRoutes(ports: RoutePorts): Route[] {
  const free = { door: "inference", methods: ["GET"] } as const;
  const open = { door: "public", methods: ["GET"] } as const;
  return [
    ...ports.formats.flatMap((format) => surfaceRoutes(ports, format)),
    ...tokenCounts(ports).map((counted) => ({ ...counted, door: "inference", methods: ["POST"] }) as const),
    {
      path: "/v1/responses/*",
      door: "inference",
      methods: ["GET", "POST", "DELETE"],
      handler: storedResponses(ports),
    },
    { path: "/v1/models", ...free, handler: models(ports) },
    { path: "/v1/models/*", ...free, handler: model(ports) },
    { path: "/v1/key", ...free, handler: key(ports) },
    { path: "/v1/credits", ...free, handler: credits(ports.ledger) },
    { path: "/v1/receipts/*", ...free, handler: receipts(ports) },
    { path: "/v1/generation", ...free, handler: generation(ports) },
    {
      path: "/admin/v1/*",
      methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
      door: "management",
      handler: ports.admin,
    },
    {
      path: "/webhooks/stripe",
      methods: ["POST"],
      door: "public",
      handler: paymentWebhook(ports.payments, ports.uploads),
    },
    { path: "/.well-known/jwks.json", ...open, handler: jwks(ports.receipts) },
    { path: "/healthz", ...open, handler: healthz },
    { path: "/readyz", ...open, handler: readyz(ports) },
    { path: "/metrics", methods: ["GET"], door: "loopback", handler: metrics(ports) },
  ];
}

// The table of everything that answers (S8: what is not declared here does not exist).
import type { JournalEntry } from "../contract/journal.ts";
import type { CompletePorts } from "../gateway/complete.ts";
import type { PreviewPorts } from "../gateway/preview.ts";
import type { ReceiptSigner } from "../gateway/signed-receipt.ts";
import { chat } from "../http/chat.ts";
import type { Handler } from "../http/context.ts";
import { credits } from "../http/credits.ts";
import { generation } from "../http/generation.ts";
import { healthz, metrics, readyz } from "../http/health.ts";
import { key } from "../http/key.ts";
import { model, models, type ModelsPorts } from "../http/models.ts";
import { quote } from "../http/quote.ts";
import { jwks, receipts } from "../http/receipts.ts";
import type { Route } from "../http/router.ts";
import type { EventStreams } from "../http/sse.ts";
import { paymentWebhook } from "../http/webhooks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Metrics } from "../lib/metrics.ts";

export interface RoutePorts {
  ledger: Ledger;
  managementKeys: Pick<Ledger, "authenticateManagementKey">;
  clock: Clock;
  complete: CompletePorts & PreviewPorts;
  streams: EventStreams;
  shelf: ModelsPorts["shelf"];
  metrics: Metrics;
  receipts: ReceiptSigner;
  admin: Handler;
  payments: Parameters<typeof paymentWebhook>[0];
  bodyBytes: number;
  streamIdleMs: number;
  maxConcurrent: number;
  draining(): boolean;
  heldNothing(entry: JournalEntry): void;
  overloaded(): void;
}

export function routeTable(ports: RoutePorts): Route[] {
  const answer = chat(ports);
  const free = { door: "inference", metered: false } as const;
  return [
    {
      path: "/v1/chat/completions",
      methods: ["POST"],
      door: "inference",
      metered: true,
      handler: (context) => answer(context),
    },
    {
      path: "/v1/chat/completions/quote",
      methods: ["POST"],
      ...free,
      handler: quote(ports.complete, ports.bodyBytes),
    },
    { path: "/v1/models", methods: ["GET"], ...free, handler: models(ports) },
    { path: "/v1/models/*", methods: ["GET"], ...free, handler: model(ports) },
    { path: "/v1/key", methods: ["GET"], ...free, handler: key(ports) },
    { path: "/v1/credits", methods: ["GET"], ...free, handler: credits(ports.ledger) },
    { path: "/v1/receipts/*", methods: ["GET"], ...free, handler: receipts(ports) },
    { path: "/v1/generation", methods: ["GET"], ...free, handler: generation(ports.ledger) },
    {
      path: "/admin/v1/*",
      methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
      door: "management",
      metered: false,
      handler: ports.admin,
    },
    {
      path: "/webhooks/stripe",
      methods: ["POST"],
      door: "public",
      metered: false,
      handler: paymentWebhook(ports.payments),
    },
    {
      path: "/.well-known/jwks.json",
      methods: ["GET"],
      door: "public",
      metered: false,
      handler: jwks(ports.receipts),
    },
    { path: "/healthz", methods: ["GET"], door: "public", metered: false, handler: healthz },
    { path: "/readyz", methods: ["GET"], door: "public", metered: false, handler: readyz(ports) },
    { path: "/metrics", methods: ["GET"], door: "loopback", metered: false, handler: metrics(ports) },
  ];
}

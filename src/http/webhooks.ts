// POST /webhooks/stripe: events of the payment service. Anybody may call it; only a signature over the exact bytes is
// believed. 200 means that everything it asks for is durable; any other status makes the service deliver again.
import { OperatorRefusal } from "../contract/admin-refusals.ts";
import { ServiceFailure, WebhookRefusal } from "../payments/driver.ts";
import type { Delivery, Verdict } from "../payments/receive.ts";
import { readJsonBody } from "./body.ts";
import type { Handler, HttpContext } from "./context.ts";
import { replyJson, replyOperatorRefusal } from "./reply.ts";

const BODY_LIMIT_BYTES = 1024 * 1024;

interface PaymentPort {
  receive(delivery: Delivery): Promise<Verdict>;
}

export const paymentWebhook =
  (payments: PaymentPort): Handler =>
  async (context) => {
    const { requestId, address } = context;
    const body = await readJsonBody(context.request, BODY_LIMIT_BYTES);
    const signature = context.request.headers.get("stripe-signature");
    try {
      return answer(context, await payments.receive({ body, signature, from: { address, requestId } }));
    } catch (error) {
      return replyOperatorRefusal(context.requestId, refusalOf(error));
    }
  };

function answer(context: HttpContext, { outcome, detail }: Verdict): Response {
  if (outcome === "refused")
    throw new OperatorRefusal("webhook_event_refused", `Nothing was credited: ${detail ?? "it is refused"}.`);
  if (outcome === "too_early")
    throw new OperatorRefusal("webhook_event_too_early", `Deliver it again: ${detail ?? "it is early"}.`);
  return replyJson(context, { received: true, outcome, detail });
}

function refusalOf(error: unknown): OperatorRefusal {
  if (error instanceof OperatorRefusal) return error;
  if (error instanceof WebhookRefusal) return new OperatorRefusal("webhook_not_verified", error.message);
  if (error instanceof ServiceFailure)
    return new OperatorRefusal("payment_service_unavailable", error.message);
  throw error;
}

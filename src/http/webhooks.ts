// POST /webhooks/stripe: events of the payment service. Anybody may call it; only a signature over the exact bytes is trusted. 200
// means that everything the event asks for is durable; any other status makes the service deliver again.
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { ServiceFailure, WebhookRefusal } from "../payments/driver.ts";
import type { WebhookDelivery, Verdict } from "../payments/receive.ts";
import { checkJsonBody, readJsonBody, strangersRoom } from "./body.ts";
import type { Handler, HttpContext } from "./context.ts";
import { replyJson, replyOperatorRefusal } from "./reply.ts";
import { STRANGER_BODY_BYTES, type Uploads } from "../limits/uploads.ts";

interface PaymentPort {
  receive(delivery: WebhookDelivery): Promise<Verdict>;
}

/** A body is read only if its sender claims to have signed it. */
const NOT_SIGNED = "The request carries no Stripe-Signature.";

export const paymentWebhook =
  (payments: PaymentPort, uploads: Uploads): Handler =>
  async (context) => {
    const { requestId, address } = context;
    checkJsonBody(context.request, STRANGER_BODY_BYTES);
    const signature = context.request.headers.get("stripe-signature");
    if (signature === null)
      return replyOperatorRefusal(requestId, new OperatorRefusal("webhook_not_verified", NOT_SIGNED));
    const terms = { ...strangersRoom(uploads, "webhook", address), limitBytes: STRANGER_BODY_BYTES };
    const body = await readJsonBody(context.request, terms);
    try {
      return answer(context, await payments.receive({ body, signature, from: { address, requestId } }));
    } catch (error) {
      return replyOperatorRefusal(context.requestId, refusalOf(error));
    }
  };

function answer(context: HttpContext, { outcome, detail }: Verdict): Response {
  if (outcome === "refused")
    throw new OperatorRefusal(
      "webhook_event_refused",
      `Nothing was credited: ${detail ?? "the event was refused"}.`,
    );
  if (outcome === "too_early")
    throw new OperatorRefusal(
      "webhook_event_too_early",
      `Deliver it again: ${detail ?? "the event came too early"}.`,
    );
  return replyJson(context, { received: true, outcome, detail });
}

function refusalOf(error: unknown): OperatorRefusal {
  if (error instanceof OperatorRefusal) return error;
  if (error instanceof WebhookRefusal) return new OperatorRefusal("webhook_not_verified", error.message);
  if (error instanceof ServiceFailure)
    return new OperatorRefusal("payment_service_unavailable", error.message);
  throw error;
}

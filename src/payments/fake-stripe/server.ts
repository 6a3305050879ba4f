// A Stripe-shaped server for gateways without Stripe and for tests: the three calls that the driver makes, a page to pay
// on, and events signed with Stripe's own library. It forgets everything when it stops.
import Stripe from "stripe";
import {
  FakeAccount,
  type FakeStripeEvent,
  eventOf,
  moneyBack,
  type MoneyBack,
  type Payment,
  type Session,
} from "./account.ts";
import { listeningAddress } from "../../lib/listening-address.ts";
import { checkoutPage } from "./page.ts";

export interface DoubleOptions {
  host?: string;
  port?: number;
  webhookSecret: string;
  /** Where events are sent; read at each delivery. */
  webhookUrl(): string;
  nowMs?(): number;
}

interface Answer {
  status: number;
  body: unknown;
}

/**
 * `break` fails before charging, `break_charged` after it: both give the same response to every repetition.
 */
export type Charging = "succeed" | "decline" | "pending" | "hang_up" | "refuse" | "break" | "break_charged";

export class FakeStripe {
  readonly account = new FakeAccount();
  /** The outcome of the next charges of saved cards. */
  charging: Charging = "succeed";
  /** True makes every call fail with a 503; the pages keep working. */
  away = false;
  /** Calls by path, for tests that count. */
  readonly calls: string[] = [];
  /** Charges waiting at `hold`. */
  held = 0;
  private gate: Promise<void> | null = null;
  private readonly inUse = new Set<string>();
  private readonly answers = new Map<string, Answer & { asked: string }>();
  private readonly server: Bun.Server<undefined>;
  private readonly signer = new Stripe("sk_test_double", { telemetry: false }).webhooks;

  constructor(private readonly options: DoubleOptions) {
    this.server = Bun.serve({
      hostname: options.host ?? "127.0.0.1",
      port: options.port ?? 0,
      fetch: (request) => this.serve(request),
    });
  }

  get url(): string {
    const { hostname: host = "127.0.0.1", port = 0 } = this.server;
    return listeningAddress({ host, port });
  }

  async stop(): Promise<void> {
    await this.server.stop(true);
  }

  /** Makes charges wait until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gate = promise;
    return () => {
      this.gate = null;
      resolve();
    };
  }

  /** The session behind a checkout address. */
  session(url: string): Session {
    const session = this.account.sessions.get(url.slice(url.lastIndexOf("/") + 1));
    if (session === undefined) throw new Error(`the fake has no page ${url}`);
    return session;
  }

  /** The event Stripe would send once the page is paid. */
  paid(session: Session): FakeStripeEvent {
    this.account.pay(session);
    return this.event("checkout.session.completed", session);
  }

  disputed(payment: Payment, status = "needs_response"): FakeStripeEvent {
    return this.event("charge.dispute.created", moneyBack(payment, { object: "dispute", status }));
  }

  refunded(payment: Payment, amount: number): FakeStripeEvent {
    const refund = moneyBack(payment, { object: "refund", amount, status: "succeeded" });
    this.account.refunds.set(refund.id, refund);
    return this.event("refund.created", refund);
  }

  /** A refund that was made but then did not reach the payer. */
  refundFailed(made: FakeStripeEvent): FakeStripeEvent {
    const refund = this.account.refunds.get((made.data.object as MoneyBack).id);
    if (refund === undefined) throw new Error("the fake made no such refund");
    refund.status = "failed";
    return this.event("refund.failed", refund);
  }

  event(type: string, object: object): FakeStripeEvent {
    return eventOf(type, object, this.nowMs());
  }

  /** Delivers an event, signed at the given time (default: now) with the given secret (default: ours). */
  async deliver(event: object, as: { signedAtMs?: number; secret?: string } = {}): Promise<Response> {
    const payload = JSON.stringify(event);
    const header = await this.signer.generateTestHeaderStringAsync({
      payload,
      secret: as.secret ?? this.options.webhookSecret,
      timestamp: Math.floor((as.signedAtMs ?? this.nowMs()) / 1000),
    });
    return this.send(payload, header);
  }

  send(payload: string, signature: string): Promise<Response> {
    return fetch(this.options.webhookUrl(), {
      method: "POST",
      headers: { "content-type": "application/json", "stripe-signature": signature },
      body: payload,
    });
  }

  private nowMs(): number {
    return this.options.nowMs?.() ?? Date.now();
  }

  private async serve(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const [, root, kind, id] = pathname.split("/");
    if (pathname === "/favicon.ico") return new Response(null, { status: 204 }); // every browser asks for it
    if (root === "pay") return this.payPage(request, kind ?? "");
    this.calls.push(`${request.method} ${pathname}`);
    if (this.away) return print(failure(503, { type: "api_error", message: "The fake is away." }));
    const idempotencyKey = request.headers.get("idempotency-key");
    if (request.method === "GET" && kind === "payment_intents" && (id === undefined || id === "search"))
      return this.listPayments(searchParams);
    if (request.method === "GET" && kind === "payment_intents")
      return this.showPayment(id ?? "", searchParams.has("expand[0]"));
    if (request.method === "POST" && kind === "payment_intents" && pathname.endsWith("/cancel"))
      return this.cancelPayment(id ?? "");
    if (request.method === "GET" && kind === "refunds") return print(this.showRefund(id ?? ""));
    if (kind !== "checkout" && kind !== "payment_intents")
      return print(
        failure(404, { type: "invalid_request_error", message: `Unrecognized request URL ${pathname}` }),
      );
    return this.create(kind, new URLSearchParams(await request.text()), idempotencyKey);
  }

  /**
   * Handles a call under an idempotency key: one at a time, bound to one request, always with the same
   * response.
   */
  private async create(
    kind: "checkout" | "payment_intents",
    form: URLSearchParams,
    key: string | null,
  ): Promise<Response> {
    if (key === null) return print(failure(400, { type: "invalid_request_error", message: "No key." }));
    if (this.inUse.has(key))
      return print(
        failure(409, { type: "invalid_request_error", code: "idempotency_key_in_use", message: "In use." }),
      );
    const asked = form.toString();
    const earlier = this.answers.get(key);
    if (earlier !== undefined && earlier.asked !== asked)
      return print(
        failure(400, { type: "idempotency_error", message: "The key was used with other parameters." }),
      );
    const keep = (answer: Answer): Response => {
      this.answers.set(key, { ...answer, asked });
      return print(answer);
    };
    if (this.charging === "hang_up" && kind === "payment_intents") {
      // Charged, but the caller is not told.
      if (earlier === undefined) keep(this.charge(form, "succeed"));
      return print(failure(500, { type: "api_error", message: "The fake hung up." }));
    }
    if (earlier !== undefined) return print(earlier, { "idempotent-replayed": "true" });
    if (kind === "checkout") return keep({ status: 200, body: this.account.openSession(form, this.url) });
    if (this.gate !== null) await this.waitAt(this.gate, key);
    return keep(this.charge(form, this.charging));
  }

  private async waitAt(gate: Promise<void>, key: string): Promise<void> {
    this.inUse.add(key);
    this.held++;
    await gate;
    this.held--;
    this.inUse.delete(key);
  }

  private showPayment(id: string, expand: boolean): Response {
    const payment = this.account.payments.get(id);
    if (payment === undefined)
      return print(failure(404, { type: "invalid_request_error", message: `No such payment_intent: ${id}` }));
    return Response.json(expand ? this.account.printWithCard(payment) : payment);
  }

  private listPayments(asked: URLSearchParams): Response {
    const [, order] = /^metadata\['order'\]:'(\w+)'$/.exec(asked.get("query") ?? "") ?? [];
    const customer = asked.get("customer");
    const data = [...this.account.payments.values()]
      .filter((payment) => customer === null || payment.customer === customer)
      .filter(({ metadata }) => order === undefined || metadata["order"] === order);
    return Response.json({ object: "list", has_more: false, data });
  }

  private cancelPayment(id: string): Response {
    const payment = this.account.payments.get(id);
    if (payment === undefined || payment.status === "succeeded")
      return print(failure(400, { type: "invalid_request_error", message: `${id} cannot be canceled` }));
    payment.status = "canceled";
    return Response.json(payment);
  }

  private showRefund(id: string): Answer {
    const refund = this.account.refunds.get(id);
    return refund === undefined
      ? failure(404, { type: "invalid_request_error", message: `No such refund: ${id}` })
      : { status: 200, body: refund };
  }

  private charge(form: URLSearchParams, charging: Charging): Answer {
    if (form.get("confirm") !== "true")
      return { status: 200, body: this.account.charge(form, "requires_payment_method") };
    if (charging === "decline") {
      const message = "Your card has insufficient funds.";
      return failure(402, { type: "card_error", code: "card_declined", message });
    }
    if (charging === "refuse")
      return failure(400, { type: "invalid_request_error", message: "No such PaymentMethod." });
    const broken = failure(500, { type: "api_error", message: "The fake broke." });
    if (charging === "break") return broken;
    const payment = this.account.charge(form, charging === "pending" ? "processing" : "succeeded");
    if (charging === "break_charged") return broken;
    return { status: 200, body: payment };
  }

  private async payPage(request: Request, id: string): Promise<Response> {
    const session = this.account.sessions.get(id);
    if (session === undefined) return new Response("There is no such page.", { status: 404 });
    if (request.method !== "POST") return checkoutPage(session);
    const form = new URLSearchParams(await request.text());
    if (form.get("do") !== "pay") return seeOther(session.cancel_url);
    await this.deliver(this.paid(session));
    return seeOther(session.success_url);
  }
}

const seeOther = (location: string): Response => new Response(null, { status: 303, headers: { location } });

const failure = (status: number, error: Record<string, string>): Answer => ({ status, body: { error } });

const print = ({ status, body }: Answer, headers: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers });

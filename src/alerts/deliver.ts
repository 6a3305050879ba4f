// Sends what waits in the outbox: signed, tried again with growing pauses, given up after the last. Receivers may get a
// message twice (a crash after sending, before noting); its id says so.
import type { Delivery } from "./alert.ts";
import type { Outbox, Tried } from "./outbox.ts";
import { post, type Posted, type PostPorts } from "./post.ts";
import type { RuleBook } from "./rule-book.ts";
import { signedHeaders } from "./signature.ts";

export interface DeliverPorts {
  rules: RuleBook;
  outbox: Outbox;
  nowMs(): number;
  to: PostPorts;
  /** Told of what no receiver is to blame for. */
  failed(error: unknown): void;
}

/** Pauses after each failed try; after the last one it has failed. */
export const PAUSES_MS = [5_000, 60_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000];
const LIMITS = { atOnce: 50, ofOneOrganization: 5 };
/** Gone: the receiver asks to be left alone (Standard Webhooks). */
const GONE = 410;

/** Everything that is due now. */
export async function deliverDue(on: DeliverPorts): Promise<void> {
  const claimed = await on.outbox.claim(on.nowMs(), LIMITS);
  // One that fails keeps none of the others from their receivers.
  await Promise.all(
    claimed.map((delivery) => deliver(on, delivery).catch((error: unknown) => on.failed(error))),
  );
}

async function deliver(on: DeliverPorts, delivery: Delivery): Promise<void> {
  const atMs = on.nowMs();
  const began = performance.now();
  const posted = await send(on, delivery, atMs);
  const tried: Tried = {
    atMs,
    durationMs: performance.now() - began,
    status: posted.kind === "answered" ? posted.status : null,
    error: errorOf(posted),
  };
  await on.outbox.tried(delivery, tried, next(delivery, posted, atMs));
}

async function send(on: DeliverPorts, delivery: Delivery, nowMs: number): Promise<Posted> {
  const found = await on.rules.channel(delivery.organizationId, delivery.channelId);
  if (found === null) return { kind: "refused", error: "The channel was removed." };
  const { channel, secret } = found;
  if (secret === null)
    return { kind: "refused", error: "The channel's secret is damaged; make a new channel." };
  const { id, payload: body } = delivery;
  return post(channel.target, { body, headers: signedHeaders(secret, { id, body, nowMs }) }, on.to);
}

const isDelivered = (posted: Posted): boolean =>
  posted.kind === "answered" && posted.status >= 200 && posted.status < 300;

function errorOf(posted: Posted): string | null {
  if (posted.kind !== "answered") return posted.error;
  if (isDelivered(posted)) return null;
  const redirects = posted.status >= 300 && posted.status < 400;
  return redirects
    ? `It answered ${posted.status}; redirects are not followed.`
    : `It answered ${posted.status}.`;
}

function next(
  { tries }: Delivery,
  posted: Posted,
  nowMs: number,
): { state: "delivered" | "failed" } | { state: "waiting"; atMs: number } {
  if (isDelivered(posted)) return { state: "delivered" };
  const pauseMs = PAUSES_MS[tries - 1];
  const hopeless = posted.kind === "refused" || (posted.kind === "answered" && posted.status === GONE);
  return pauseMs === undefined || hopeless
    ? { state: "failed" }
    : { state: "waiting", atMs: nowMs + pauseMs };
}

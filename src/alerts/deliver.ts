// Sends the messages waiting in the outbox: signed, retried with growing pauses, given up after the last.
// Receivers may get a message twice (a crash after sending, before recording it); its id shows that. A
// hanging receiver takes only its own organization's places: the one served longest ago is next, and webhooks
// and mail have separate places (docs/decisions/0067-one-looks-and-all-take-turns.md).
import type { Channel, Delivery } from "./alert.ts";
import { MAILS_AT_ONCE } from "./mail/mailer.ts";
import type { Outbox, Tried } from "./outbox.ts";
import { post, type PostPorts } from "./post.ts";
import type { RuleBook } from "./rule-book.ts";
import type { Sent } from "./sent.ts";
import { signedHeaders } from "./signature.ts";
import { TakingTurns } from "./taking-turns.ts";

export interface DeliverPorts {
  rules: RuleBook;
  outbox: Outbox;
  nowMs(): number;
  to: PostPorts;
  /** Never throws. */
  mail(channel: Channel, delivery: Delivery): Promise<Sent>;
}

/** Pauses after each failed try; when they are used up, the delivery has failed. */
export const PAUSES_MS = [5_000, 60_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000];
/**
 * Mails wait for a connection within their own time limit (`mail/mailer.ts`): twice as many as connections,
 * so that no mail times out waiting for the others.
 */
const PLACES = { webhook: 50, mail: 2 * MAILS_AT_ONCE } as const;
const OF_ONE_ORGANIZATION = 5;

/** Delivers the messages of one kind of channel. */
export class Deliveries {
  private readonly turns: TakingTurns;

  constructor(
    private readonly kind: Channel["kind"],
    private readonly on: DeliverPorts,
  ) {
    this.turns = new TakingTurns(PLACES[kind]);
  }

  /**
   * Begins what is due and has a place. Returns a promise for the end of each; one failure does not stop the
   * others.
   */
  async begin(): Promise<Promise<void>[]> {
    const { turns, on, kind } = this;
    if (turns.free === 0) return [];
    const waiting = await on.outbox.waiting(on.nowMs(), kind);
    const next = turns.next(waiting);
    if (next.length === 0) return [];
    const claimed = await on.outbox.claim(on.nowMs(), {
      kind,
      organizationIds: next,
      atOnce: turns.free,
      ofOneOrganization: OF_ONE_ORGANIZATION,
    });
    return claimed.map((delivery) => turns.take(delivery.organizationId, deliver(on, delivery)));
  }
}

async function deliver(on: DeliverPorts, delivery: Delivery): Promise<void> {
  const atMs = on.nowMs();
  const began = performance.now();
  const sent = await send(on, delivery, atMs);
  const tried: Tried = {
    atMs,
    durationMs: performance.now() - began,
    status: sent.status,
    error: sent.kind === "delivered" ? null : sent.error,
  };
  await on.outbox.tried(delivery, tried, next(delivery, sent, on.nowMs()));
}

const refused = (error: string): Sent => ({ kind: "refused", status: null, error });

async function send(on: DeliverPorts, delivery: Delivery, nowMs: number): Promise<Sent> {
  const found = await on.rules.channel(delivery.organizationId, delivery.channelId);
  if (found === null) return refused("The channel was removed.");
  const { channel, secret } = found;
  if (channel.kind === "mail") return on.mail(channel, delivery);
  if (secret === null) return refused("The channel's secret is damaged; create a new channel.");
  const { id, payload: body } = delivery;
  return post(channel.target, { body, headers: signedHeaders(secret, { id, body, nowMs }) }, on.to);
}

/** The pause begins when the try has ended, so it also follows a try that timed out. */
function next(
  { tries }: Delivery,
  sent: Sent,
  nowMs: number,
): { state: "delivered" | "failed" } | { state: "waiting"; atMs: number } {
  if (sent.kind === "delivered") return { state: "delivered" };
  const pauseMs = PAUSES_MS[tries - 1];
  return pauseMs === undefined || sent.kind === "refused"
    ? { state: "failed" }
    : { state: "waiting", atMs: nowMs + pauseMs };
}

// The alerts room: rules and channels, the round that watches, the round that sends.
import { HOUR_MS } from "../domain/durations.ts";
import type { Sql } from "../store/sql.ts";
import type { Channel, Delivery } from "./alert.ts";
import { Crossings } from "./crossings.ts";
import { Deliveries, type DeliverPorts } from "./deliver.ts";
import { type MailPorts, readRecipient, sendByMail } from "./mail/channel.ts";
import { Outbox } from "./outbox.ts";
import type { PostPorts } from "./post.ts";
import type { Figures } from "./readings.ts";
import { RuleBook, type Told } from "./rule-book.ts";
import { newSigningSecret } from "./signature.ts";
import { readTarget } from "./target.ts";
import { payloadOf, watchRules } from "./watch.ts";

export interface AlertPorts {
  sql: Sql;
  dataKey: Uint8Array;
  look(): (organizationId: string) => Figures;
  nowMs(): number;
  to: PostPorts;
  /** Null if no mail server is configured. */
  mail: MailPorts | null;
}

const SWEEP_EVERY_MS = HOUR_MS;

export class Alerts {
  readonly rules: RuleBook;
  readonly crossings: Crossings;
  readonly outbox: Outbox;
  private readonly deliveries: readonly Deliveries[];
  private readonly ends = new Set<Promise<void>>();
  private sweptAtMs = 0;

  constructor(private readonly on: AlertPorts) {
    this.rules = new RuleBook(on.sql, on.dataKey);
    this.crossings = new Crossings(on.sql);
    this.outbox = new Outbox(on.sql);
    const ports: DeliverPorts = {
      rules: this.rules,
      outbox: this.outbox,
      to: on.to,
      mail: (channel, delivery) => sendByMail(channel, delivery, on.mail),
      nowMs: () => on.nowMs(),
    };
    this.deliveries = (["webhook", "mail"] as const).map((kind) => new Deliveries(kind, ports));
  }

  /**
   * Adds a webhook with the secret that signs its messages; the secret is shown only once. Throws
   * `TargetRefusal`.
   */
  async addWebhook(
    organizationId: string,
    { name, target }: { name: string; target: string },
    told?: (target: string) => Told,
  ): Promise<{ channel: Channel; secret: string }> {
    const secret = newSigningSecret();
    const url = readTarget(target, this.on.to).href;
    const asked = { kind: "webhook", name, target: url, secret } as const;
    return {
      channel: await this.rules.addChannel(organizationId, asked, this.on.nowMs(), told?.(url)),
      secret,
    };
  }

  /** True if this gateway sends mail. */
  get mails(): boolean {
    return this.on.mail !== null;
  }

  /** Adds a member's mailbox. Throws `TargetRefusal`, also for people who are not members. */
  async addMailbox(
    organizationId: string,
    { name, target }: { name: string; target: string },
    told?: (target: string) => Told,
  ): Promise<Channel> {
    const address = await readRecipient(target, { organizationId, mail: this.on.mail });
    const asked = { kind: "mail", name, target: address, secret: null } as const;
    return this.rules.addChannel(organizationId, asked, this.on.nowMs(), told?.(address));
  }

  /** Sends a message that says it is a test; it is delivered like any other. */
  async sendTest(organizationId: string, channelId: string): Promise<Delivery> {
    const nowMs = this.on.nowMs();
    const text = "This is a test of an alert channel. Nothing happened.";
    const rule = { id: null, organizationId };
    const message = {
      organizationId,
      ruleId: null,
      kind: "test",
      text,
      payload: payloadOf({ kind: "test", rule, text, facts: {}, nowMs }),
    } as const;
    return this.outbox.send(message, channelId, nowMs);
  }

  async watch(failed: (error: unknown) => void): Promise<void> {
    const { rules, crossings, outbox, on } = this;
    if (on.nowMs() - this.sweptAtMs > SWEEP_EVERY_MS) {
      this.sweptAtMs = on.nowMs();
      await outbox.sweep(on.nowMs()).catch(failed);
    }
    await watchRules({ rules, crossings, outbox, look: () => on.look(), nowMs: () => on.nowMs() }, failed);
  }

  /** Begins the deliveries that are due; `failed` receives the errors that no receiver caused. */
  async beginDeliveries(failed: (error: unknown) => void): Promise<void> {
    for (const deliveries of this.deliveries)
      for (const end of await deliveries.begin()) this.underWay(end.catch(failed));
  }

  /** Delivers everything that is due now and has a place, and waits for the end of each. */
  async deliver(): Promise<void> {
    const begun: Promise<void>[] = [];
    for (const deliveries of this.deliveries) begun.push(...(await deliveries.begin()));
    await Promise.all(begun);
  }

  /** Resolves when all deliveries that were begun have ended. */
  async delivered(): Promise<void> {
    await Promise.all(this.ends);
  }

  private underWay(end: Promise<void>): void {
    this.ends.add(end);
    void end.finally(() => this.ends.delete(end));
  }
}

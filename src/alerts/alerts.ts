// The alerts room, put together: rules and channels, the round that watches, the round that sends.
import type { Sql } from "../store/sql.ts";
import type { Channel, Delivery } from "./alert.ts";
import { deliverDue } from "./deliver.ts";
import { type MailPorts, readRecipient, sendByMail } from "./mail/channel.ts";
import { Outbox } from "./outbox.ts";
import type { PostPorts } from "./post.ts";
import type { Figures } from "./readings.ts";
import { RuleBook } from "./rule-book.ts";
import { newSigningSecret } from "./signature.ts";
import { readTarget } from "./target.ts";
import { payloadOf, watchRules } from "./watch.ts";

export interface AlertPorts {
  sql: Sql;
  dataKey: Uint8Array;
  look(): (organizationId: string) => Figures;
  nowMs(): number;
  to: PostPorts;
  /** Null where no mail server is configured. */
  mail: MailPorts | null;
}

const SWEEP_EVERY_MS = 3_600_000;
const rethrow = (error: unknown): void => {
  throw error;
};

export class Alerts {
  readonly rules: RuleBook;
  readonly outbox: Outbox;
  private sweptAtMs = 0;

  constructor(private readonly on: AlertPorts) {
    this.rules = new RuleBook(on.sql, on.dataKey);
    this.outbox = new Outbox(on.sql);
  }

  /** A webhook and the secret that signs its messages; the secret is shown this once. Throws `TargetRefusal`. */
  async addWebhook(
    organizationId: string,
    { name, target }: { name: string; target: string },
  ): Promise<{ channel: Channel; secret: string }> {
    const secret = newSigningSecret();
    const url = readTarget(target, this.on.to).href;
    const asked = { kind: "webhook", name, target: url, secret } as const;
    return { channel: await this.rules.addChannel(organizationId, asked, this.on.nowMs()), secret };
  }

  /** Whether this gateway sends mail. */
  get mails(): boolean {
    return this.on.mail !== null;
  }

  /** A member's mailbox. Throws `TargetRefusal`, also for whoever is no member. */
  async addMailbox(
    organizationId: string,
    { name, target }: { name: string; target: string },
  ): Promise<Channel> {
    const address = await readRecipient(target, { organizationId, mail: this.on.mail });
    const asked = { kind: "mail", name, target: address, secret: null } as const;
    return this.rules.addChannel(organizationId, asked, this.on.nowMs());
  }

  /** A message that says that it is one; delivered like any other. */
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
    const { rules, outbox, on } = this;
    if (on.nowMs() - this.sweptAtMs > SWEEP_EVERY_MS) {
      this.sweptAtMs = on.nowMs();
      await outbox.sweep(on.nowMs()).catch(failed);
    }
    await watchRules({ rules, outbox, look: () => on.look(), nowMs: () => on.nowMs() }, failed);
  }

  deliver(failed: (error: unknown) => void = rethrow): Promise<void> {
    const { rules, outbox, on } = this;
    const { to, mail } = on;
    return deliverDue({
      rules,
      outbox,
      to,
      mail: (channel, delivery) => sendByMail(channel, delivery, mail),
      nowMs: () => on.nowMs(),
      failed,
    });
  }
}

// Alerts as use-cases, in the shapes of the dashboard's API. Each change writes one audit line; a signing
// secret appears in one response and in no log. An id of another organization is treated as nonexistent.
import type { z } from "zod";
import type {
  AlertChannelJson,
  AlertDeliveryJson,
  AlertRuleJson,
  alertChannelInput,
  alertChannelList,
  alertRuleInput,
  changeAlertRuleInput,
  createdAlertChannel,
} from "../api/shapes/alerts.ts";
import type { Actor } from "../domain/actor.ts";
import { ALERT_THRESHOLDS } from "../domain/alert-kinds.ts";
import type { AuditNote } from "../domain/audit-note.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { formatUsd } from "../domain/money.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import { Refusal } from "../domain/refusals.ts";
import { changedMeanwhile, checkVersion, versionOf } from "../domain/row-version.ts";
import { type Channel, DASHBOARD, type Delivery, type Rule } from "../alerts/alert.ts";
import type { Alerts } from "../alerts/alerts.ts";
import type { RuleTerms, Told } from "../alerts/rule-book.ts";
import { TargetRefusal } from "../alerts/target.ts";
import type { KeyRecord } from "../registry/key-record.ts";
import { auditLine } from "../store/audit-log.ts";
import { type ListAsk, type ListOf, printPage, startOf } from "./list.ts";
import { readUsd } from "../domain/read.ts";
import { notFound, unknownRecord } from "../domain/unknown-record.ts";

export interface AlertServicePorts {
  alerts: Alerts;
  note: (note: AuditNote) => Promise<void>;
  nowMs: () => number;
  /** The key in any organization; null if there is none with this id. */
  keyOf: (key: string) => Promise<Pick<KeyRecord, "organizationId" | "state"> | null>;
}

/** The audit line of a change, for its transaction. */
const lineOf =
  (about: Omit<AuditNote, "target">, atMs: number): Told =>
  (target) => [auditLine({ ...about, target }, atMs)];

/** The previous terms of a new rule. */
const NO_TERMS: Pick<RuleTerms, "channels" | "keyId"> = { channels: [], keyId: null };

type RuleInput = z.output<typeof alertRuleInput>;
interface RuleChange {
  input: z.output<typeof changeAlertRuleInput>;
  actor: Actor;
}

const RULES_AT_MOST = 100;
const CHANNELS_AT_MOST = 20;
/** A test makes a call to an address that somebody typed. */
const TESTS_AT_MOST = 10;
const TESTS_WITHIN_MS = 60_000;

export type AlertService = ReturnType<typeof alertService>;

export const alertService = (on: AlertServicePorts) => ({ ...ruling(on), ...channelling(on) });

function ruling({ alerts, nowMs, keyOf }: AlertServicePorts) {
  const channelsOf = async (org: string): Promise<ReadonlySet<string>> =>
    new Set([DASHBOARD, ...(await alerts.rules.channels(org)).map(({ id }) => id)]);
  /** Throws the same error for a key of another organization as for a nonexistent one. */
  const checkKey = async (org: string, key: string): Promise<void> => {
    const found = await keyOf(key);
    if (found?.organizationId !== org) throw notFound("key");
    if (found.state === "revoked")
      throw new OperatorRefusal(
        "conflict",
        "This key is revoked and no longer spends anything. Name a key that is not revoked.",
        "key",
      );
  };
  /**
   * `had`: the rule before. Its channels that were removed since are left out; its key may have been revoked.
   */
  const termsOf = async (
    org: string,
    input: RuleInput,
    had: typeof NO_TERMS = NO_TERMS,
  ): Promise<RuleTerms> => {
    const there = await channelsOf(org);
    const unknown = input.channels.find((id) => !there.has(id) && !had.channels.includes(id));
    if (unknown !== undefined) throw unknownRecord("channel", unknown, "channels");
    if (input.key !== null && input.key !== had.keyId) await checkKey(org, input.key);
    return readTerms({ ...input, channels: input.channels.filter((id) => there.has(id)) });
  };
  return {
    /** Without removed channels. */
    async rules(org: string): Promise<ListOf<AlertRuleJson>> {
      const there = await channelsOf(org);
      const data = (await alerts.rules.ofOrganization(org)).map((rule) => ({
        ...printRule(rule),
        channels: rule.channels.filter((id) => there.has(id)),
      }));
      return { data, next_cursor: null };
    },
    async addRule(org: string, input: RuleInput, actor: Actor): Promise<AlertRuleJson> {
      const terms = await termsOf(org, input);
      if ((await alerts.rules.ofOrganization(org)).length >= RULES_AT_MOST)
        throw new OperatorRefusal(
          "conflict",
          `An organization can have at most ${RULES_AT_MOST} alert rules. Remove one, then add this one.`,
        );
      const line = { actor, action: "alert_rule.create", organizationId: org, after: input };
      return printRule(await alerts.rules.add(org, terms, nowMs(), lineOf(line, nowMs())));
    },
    async changeRule(
      org: string,
      id: string,
      { input: { version, ...input }, actor }: RuleChange,
    ): Promise<AlertRuleJson> {
      const before = await alerts.rules.find(org, id);
      if (before === null) throw unknownRecord("rule", id, "rule");
      checkVersion(version, versionOf("alert_rule", before));
      const action = "alert_rule.change";
      const line = { actor, action, organizationId: org, before: printTerms(before), after: input };
      const terms = { from: before, to: await termsOf(org, input, before) };
      const rule = await alerts.rules.change(org, id, terms, lineOf(line, nowMs()));
      if (rule === null) throw changedMeanwhile();
      return printRule(rule);
    },
    async removeRule(org: string, id: string, actor: Actor): Promise<void> {
      const line = { actor, action: "alert_rule.remove", organizationId: org };
      if (!(await alerts.rules.remove(org, id, lineOf(line, nowMs()))))
        throw unknownRecord("rule", id, "rule");
    },
  };
}

function channelling({ alerts, note, nowMs }: AlertServicePorts) {
  return {
    /** The dashboard's own list comes first; it always exists. */
    async channels(org: string): Promise<z.output<typeof alertChannelList>> {
      const made = (await alerts.rules.channels(org)).map(printChannel);
      return { data: [DASHBOARD_CHANNEL, ...made], next_cursor: null, mail: alerts.mails };
    },
    /** The only response that contains the signing secret. */
    async addChannel(
      org: string,
      { kind, name, target }: z.output<typeof alertChannelInput>,
      actor: Actor,
    ): Promise<z.output<typeof createdAlertChannel>> {
      if (kind === "dashboard" || (kind === "mail" && !alerts.mails)) throw notAKind(kind);
      if ((await alerts.rules.channels(org)).length >= CHANNELS_AT_MOST)
        throw new OperatorRefusal(
          "conflict",
          `An organization can have at most ${CHANNELS_AT_MOST} channels. Remove one, then add this one.`,
        );
      const asked = { name, target: target ?? "" };
      const action = "alert_channel.create";
      const told = (target: string): Told =>
        lineOf({ actor, action, organizationId: org, after: { kind, name, target } }, nowMs());
      const { channel, secret } = await targeted(async () =>
        kind === "mail"
          ? { channel: await alerts.addMailbox(org, asked, told), secret: null }
          : await alerts.addWebhook(org, asked, told),
      );
      return { ...printChannel(channel), secret };
    },
    async removeChannel(org: string, id: string, actor: Actor): Promise<void> {
      const line = { actor, action: "alert_channel.remove", organizationId: org };
      if (!(await alerts.rules.removeChannel(org, id, nowMs(), lineOf(line, nowMs()))))
        throw unknownRecord("channel", id, "channel");
    },
    async sendTest(org: string, id: string, actor: Actor): Promise<AlertDeliveryJson> {
      const known = id === DASHBOARD || (await alerts.rules.channel(org, id)) !== null;
      if (!known) throw unknownRecord("channel", id, "channel");
      if ((await alerts.outbox.testsSince(org, nowMs() - TESTS_WITHIN_MS)) >= TESTS_AT_MOST)
        throw new Refusal(
          "rate_limit_exceeded",
          `At most ${TESTS_AT_MOST} tests can be sent in a minute. Wait a moment, then try again.`,
          {
            retryAfterMs: TESTS_WITHIN_MS,
          },
        );
      const delivery = await alerts.sendTest(org, id);
      await note({ actor, action: "alert_channel.test", organizationId: org, target: id });
      return printDelivery(delivery);
    },
    async delivery(org: string, id: string): Promise<AlertDeliveryJson> {
      const found = await alerts.outbox.find(org, id);
      if (found === null) throw unknownRecord("delivery", id, "delivery");
      return printDelivery(found);
    },
    async deliveries(org: string, ask: ListAsk): Promise<ListOf<AlertDeliveryJson>> {
      const { after, limit } = startOf(ask);
      return printPage(await alerts.outbox.page(org, after, { limit }), printDelivery);
    },
  };
}

function readTerms(input: RuleInput): RuleTerms {
  const needed = ALERT_THRESHOLDS[input.kind];
  for (const name of ["amount_usd", "percent", "days"] as const) {
    const given = input[name] !== null;
    if (given === (name === needed)) continue;
    const complaint = given ? `does not apply to ${input.kind}` : `is needed for ${input.kind}`;
    throw new Refusal("invalid_request", `${name} ${complaint}.`, { param: name });
  }
  if (input.key !== null && input.kind !== "key_limit")
    throw new Refusal("invalid_request", `key does not apply to ${input.kind}.`, { param: "key" });
  return {
    kind: input.kind,
    amount: input.amount_usd === null ? null : readUsd(input.amount_usd, "amount_usd"),
    percent: input.percent,
    days: input.days,
    keyId: input.key,
    channels: [...new Set(input.channels)].filter((id) => id !== DASHBOARD),
    enabled: input.on,
  };
}

async function targeted<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof TargetRefusal)) throw error;
    throw new Refusal("invalid_request", `target ${error.message}.`, { param: "target" });
  }
}

const notAKind = (kind: "mail" | "dashboard"): OperatorRefusal =>
  kind === "mail"
    ? new OperatorRefusal("conflict", "This gateway does not send mail. Use a webhook.", "kind")
    : new OperatorRefusal(
        "conflict",
        "The dashboard's list exists in every organization and cannot be added.",
        "kind",
      );

/** It existed before any organization. */
const DASHBOARD_CHANNEL: AlertChannelJson = {
  id: DASHBOARD,
  kind: "dashboard",
  name: "Dashboard",
  target: null,
  created_at: printTime(0),
};

const printTerms = (rule: Rule) => ({
  kind: rule.kind,
  amount_usd: rule.amount === null ? null : formatUsd(rule.amount),
  percent: rule.percent,
  days: rule.days,
  key: rule.keyId,
  channels: rule.channels,
  on: rule.enabled,
});

const printRule = (rule: Rule): AlertRuleJson => ({
  id: rule.id,
  ...printTerms(rule),
  firing: rule.firing,
  last_fired_at: printTimeOrNull(rule.lastFiredAtMs),
  version: versionOf("alert_rule", rule),
});

const printChannel = ({ id, kind, name, target, createdAtMs }: Channel): AlertChannelJson => ({
  id,
  kind,
  name,
  target,
  created_at: printTime(createdAtMs),
});

const printDelivery = (delivery: Delivery): AlertDeliveryJson => ({
  id: delivery.id,
  at: printTime(delivery.createdAtMs),
  rule: delivery.ruleId,
  channel: delivery.channelId,
  kind: delivery.kind,
  text: delivery.text,
  state: delivery.state,
  tries: delivery.tries,
  status: delivery.status,
  reason: delivery.error,
  next_try_at: printTimeOrNull(delivery.nextTryAtMs),
});

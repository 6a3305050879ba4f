// What alerts are made of: a rule asks, a channel is told, a delivery is one message on its way.
import type { AlertKind } from "../domain/alert-kinds.ts";
import type { NanoUsd } from "../domain/money.ts";

/** What a rule watches. Of `amount`, `percent` and `days` its kind uses one at the most; the others are null. */
export interface Condition {
  kind: AlertKind;
  /** balance_below, spend_per_day. */
  amount: NanoUsd | null;
  /** key_limit, error_rate. */
  percent: number | null;
  /** days_left_below. */
  days: number | null;
  /** Only this key; null is every key. */
  keyId: string | null;
}

/** A condition of one organization, and whom it tells: the ids of its channels; on the dashboard it is told in any case. */
export interface Rule extends Condition {
  /** `alr_…`. */
  id: string;
  organizationId: string;
  channels: string[];
  enabled: boolean;
  createdAtMs: number;
  lastFiredAtMs: number | null;
  firing: boolean;
}

/** Every organization has it: the list on its alerts page, which gets each message. */
export const DASHBOARD = "dashboard";

export interface Channel {
  /** `chn_…`. */
  id: string;
  organizationId: string;
  kind: "webhook" | "mail";
  name: string;
  /** An https address, or a mail address. */
  target: string;
  createdAtMs: number;
}

/** One message for one channel, kept with how its last try went. */
export interface Delivery {
  /** `msg_…`: the same at every try, so that a receiver can tell a repetition. */
  id: string;
  organizationId: string;
  /** Null for a test. */
  ruleId: string | null;
  channelId: string;
  kind: AlertKind | "test";
  text: string;
  /** The exact body. */
  payload: string;
  state: "waiting" | "delivered" | "failed";
  tries: number;
  /** Of the last try's answer. */
  status: number | null;
  error: string | null;
  createdAtMs: number;
  nextTryAtMs: number | null;
}

/** What a rule found about one subject (the organization, a key, a route). */
export interface Reading {
  subject: string;
  /** `between` neither fires nor ends: a figure that hangs about its threshold must not ring all day. */
  standing: "crossed" | "between" | "clear";
  text: string;
  facts: Record<string, string | number | null>;
}

// The parts of alerts: a rule watches a condition, a channel receives messages, a delivery is one message in
// transit.
import type { AlertKind } from "../domain/alert-kinds.ts";
import type { NanoUsd } from "../domain/money.ts";

/** What a rule watches. Each kind uses at most one of `amount`, `percent` and `days`; the others are null. */
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

/**
 * A condition of one organization, and the ids of the channels that it notifies; the dashboard shows its
 * messages in any case.
 */
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

/** The channel that every organization has: the list on its alerts page, which gets each message. */
export const DASHBOARD = "dashboard";

export interface Channel {
  /** `chn_…`. */
  id: string;
  organizationId: string;
  kind: "webhook" | "mail";
  name: string;
  /** An https URL or a mail address. */
  target: string;
  createdAtMs: number;
}

/** One message for one channel, with the outcome of its last try. */
export interface Delivery {
  /** `msg_…`: the same at every try, so that a receiver can recognize a duplicate. */
  id: string;
  organizationId: string;
  /** Null for a test message. */
  ruleId: string | null;
  channelId: string;
  kind: AlertKind | "test";
  text: string;
  /** The exact body that is sent. */
  payload: string;
  state: "waiting" | "delivered" | "failed";
  tries: number;
  /** The status of the last try's response. */
  status: number | null;
  error: string | null;
  createdAtMs: number;
  nextTryAtMs: number | null;
}

/** What a rule found about one subject (the organization, a key, a route). */
export interface Reading {
  subject: string;
  /** `between` neither fires nor ends: a figure hovering around its threshold must not alert all day. */
  standing: "crossed" | "between" | "clear";
  text: string;
  facts: Record<string, string | number | null>;
}

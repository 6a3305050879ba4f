// Traffic that concentrates on one promise, for runs of seconds.
import { EVERYTHING, type Mix } from "../mix.ts";

const NO_TRAFFIC = Object.fromEntries(
  Object.keys(EVERYTHING.traffic).map((name) => [name, 0]),
) as Mix["traffic"];
const NO_CHAOS = Object.fromEntries(Object.keys(EVERYTHING.chaos).map((name) => [name, 0])) as Mix["chaos"];

const quiet: Mix = {
  ...EVERYTHING,
  hostileGapMs: null,
  rotGapMs: null,
  chaosGapMs: null,
  leaving: 0,
  surfaces: { chat: 1, messages: 0, responses: 0, completions: 0, embeddings: 0 },
  models: ["steady", "slow"],
};

/** Many concurrent requests on credits that do not cover them all. */
export const bursts: Mix = { ...quiet, traffic: { ...NO_TRAFFIC, send: 10, burst: 4, top_up: 1, watch: 2 } };

/** Keys that are revoked while in use. */
export const revocations: Mix = { ...quiet, gapMs: 40, traffic: { ...NO_TRAFFIC, send: 20, revoke: 3 } };

/** Keys that are paused or expire while in use; many requests on the limited ones. */
export const pauses: Mix = {
  ...quiet,
  traffic: { ...NO_TRAFFIC, send: 20, burst: 1, pause_key: 3, expire: 2 },
};

/** Retries of everything, at once and later. */
export const retries: Mix = {
  ...quiet,
  keyed: 1,
  traffic: { ...NO_TRAFFIC, send: 10, repeat: 10, misuse: 2 },
};

/** Several gateways on one database whose connections are lost constantly. */
export const lostAnswers: Mix = {
  ...retries,
  chaosGapMs: 700,
  chaos: { ...NO_CHAOS, cut_connection: 1 },
};

/** Gateways that die with answers in progress, and callers who retry. */
export const kills: Mix = {
  ...retries,
  chaosGapMs: 900,
  chaos: { ...NO_CHAOS, kill: 1 },
  models: ["slow", "steady", "late"],
};

/** Long streams, and gateways that die in the middle of them. */
export const cuts: Mix = {
  ...kills,
  chaosGapMs: 2_800,
  traffic: { ...NO_TRAFFIC, send: 10, repeat: 3 },
  models: ["drip"],
  streams: 0.9,
};

/** Streams that gateways leave behind, among them one with an unreadable record. */
export const rotting: Mix = {
  ...cuts,
  chaosGapMs: null,
  rotGapMs: 1_500,
};

/** Clients that leave keyed streams in bulk. */
export const crowds: Mix = { ...quiet, traffic: { ...NO_TRAFFIC, send: 4 }, hostileGapMs: 700 };

/** Providers that fail in every possible way. */
export const faults: Mix = {
  ...quiet,
  traffic: { ...NO_TRAFFIC, send: 10 },
  models: ["steady", "fails-at-once", "resets", "refuses", "second-route", "inflated", "overruns"],
};

/** Providers that report nonsense usage. */
export const nonsense: Mix = {
  ...quiet,
  traffic: { ...NO_TRAFFIC, send: 10 },
  models: ["boasts", "babbles", "contradicts", "understates"],
};

/** Payments that are reported more than once. */
export const topUps: Mix = { ...quiet, traffic: { ...NO_TRAFFIC, send: 5, top_up: 5, watch: 2 } };

/** Entitlements that come and go while Research Mode is in use. */
export const research: Mix = {
  ...quiet,
  traffic: { ...NO_TRAFFIC, send: 20, switch: 2 },
  customers: { ...EVERYTHING.customers, rich: 0, poor: 0, limited: 0, research: 1 },
};

/** Clients that leave in the middle. */
export const leavings: Mix = {
  ...quiet,
  traffic: { ...NO_TRAFFIC, send: 10 },
  models: ["slow"],
  keyed: 0.2,
  streams: 0.9,
  leaving: 0.6,
};

/** A store that takes no writes for longer than its timeout, while answers arrive. */
export const locks: Mix = {
  ...quiet,
  traffic: { ...NO_TRAFFIC, send: 10 },
  models: ["late", "slow"],
  chaosGapMs: 3_000,
  chaos: { ...NO_CHAOS, lock_store: 1 },
  longLocks: 1,
};

/** Messages, with classes of tokens that appear only in their own usage. */
export const messages: Mix = {
  ...quiet,
  traffic: { ...NO_TRAFFIC, send: 10 },
  surfaces: { chat: 0, messages: 1, responses: 0, completions: 0, embeddings: 0 },
  models: ["classed", "claude-classed"],
};

/** Streams of Messages and of Responses, and gateways that die in the middle of them. */
export const cutsElsewhere: Mix = {
  ...cuts,
  surfaces: { chat: 0, messages: 1, responses: 1, completions: 0, embeddings: 0 },
};

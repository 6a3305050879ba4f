// What the front door tells about requests that held nothing.
import type { NanoUsd } from "./money.ts";

/** What a request asked for, as far as it was read and priced before it was turned away or answered again. */
export interface Asked {
  /** As the caller wrote it; null where the request was refused before its model was read. */
  model: string | null;
  stream: boolean;
  /** What it would have held; null where it was refused before it had a price. */
  bounds: {
    /** Prompt tokens, at most: the byte bound, or counted exactly. */
    promptTokens: number;
    counted: boolean;
    /** Output ceiling × n. */
    outputTokens: number;
    hold: NanoUsd;
  } | null;
}

export const NOTHING_READ: Asked = { model: null, stream: false, bounds: null };

/** The key of a row that counts requests of several: no key's id. */
export const SEVERAL_KEYS = "";

export interface RequestLogEntry {
  requestId: string;
  organizationId: string;
  keyId: string;
  kind: "refused" | "replay";
  atMs: number;
  status: number;
  code: string | null;
  /** On which it came; `SEVERAL_SURFACES` in a row that counts requests to several. */
  surface: string;
  asked: Asked;
  /** The figures that the refusal named, JSON; null for replays and for refusals without any. */
  details: string | null;
  replayOf: string | null;
  /** Of a replay: from its arrival until its answer began. */
  waitedMs: number | null;
  /** As the caller sent it; null without one. */
  idempotencyKey: string | null;
}

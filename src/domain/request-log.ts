// What the front door records about requests that held nothing.
import type { NanoUsd } from "./money.ts";

/** What a request asked for, as far as it was read and priced before it was refused or replayed. */
export interface Asked {
  /** As the caller wrote it; null if the request was refused before its model was read. */
  model: string | null;
  stream: boolean;
  /** What it would have held; null if it was refused before it was priced. */
  bounds: {
    /** The maximum of prompt tokens: the byte bound, or an exact count. */
    promptTokens: number;
    counted: boolean;
    /** Output ceiling × n. */
    outputTokens: number;
    hold: NanoUsd;
  } | null;
}

export const NOTHING_READ: Asked = { model: null, stream: false, bounds: null };

/** The key of a row that counts requests of several keys; not an id. */
export const SEVERAL_KEYS = "";

export interface RequestLogEntry {
  requestId: string;
  organizationId: string;
  keyId: string;
  kind: "refused" | "replay";
  atMs: number;
  status: number;
  code: string | null;
  /** The surface of the request; `SEVERAL_SURFACES` in a row that counts requests to several. */
  surface: string;
  asked: Asked;
  /** The figures of the refusal, as JSON; null for replays and for refusals without any. */
  details: string | null;
  replayOf: string | null;
  /** For a replay: from its arrival until its answer began. */
  waitedMs: number | null;
  /** As the caller sent it; null if none was sent. */
  idempotencyKey: string | null;
}

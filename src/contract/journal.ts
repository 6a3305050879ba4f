// What the front door tells about requests that held nothing.

export interface JournalEntry {
  requestId: string;
  organizationId: string;
  keyId: string;
  kind: "refused" | "replay";
  atMs: number;
  status: number;
  code: string | null;
  model: string | null;
  stream: boolean;
  replayOf: string | null;
  /** Of a replay: from its arrival until its answer began. */
  waitedMs: number | null;
  /** As the caller sent it; null without one. */
  idempotencyKey: string | null;
}

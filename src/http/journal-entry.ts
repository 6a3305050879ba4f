// What the journal keeps of a request that held nothing. Only of callers who showed a valid key: strangers leave no rows.
import type { Credential } from "../contract/credential.ts";
import type { JournalEntry } from "../contract/journal.ts";
import type { Completion } from "../gateway/complete.ts";
import { credentialOf } from "../gateway/credential.ts";

/** Of a key that can be valid: a longer one is refused, and found by its beginning. */
const KEY_LENGTH_MAX = 200;

interface Met {
  context: { request: Pick<Request, "headers">; requestId: string; receivedAtMs: number };
  authorization: string | Credential | null;
  nowMs: number;
}

/** Null for what the ledger tells of itself, and for callers without a valid key. */
export function journalEntry(
  completion: Completion,
  { context, authorization, nowMs }: Met,
): JournalEntry | null {
  if (completion.kind === "answer" || completion.kind === "stream") return null;
  if (completion.kind === "refused" && completion.gateway === null) return null;
  const { organizationId, keyId } = credentialOf(authorization);
  const { request, requestId, receivedAtMs: atMs } = context;
  const idempotencyKey = request.headers.get("idempotency-key")?.slice(0, KEY_LENGTH_MAX) ?? null;
  const waitedMs = Math.max(0, nowMs - atMs);
  const base = { requestId, organizationId, keyId, atMs, idempotencyKey };
  switch (completion.kind) {
    case "refused": {
      const { status, code } = completion.refusal;
      const model = modelOf(completion.gateway);
      return { ...base, kind: "refused", status, code, model, stream: false, replayOf: null, waitedMs: null };
    }
    case "follow":
      return {
        ...base,
        kind: "replay",
        status: 200,
        code: null,
        model: null,
        stream: true,
        replayOf: completion.requestId,
        waitedMs,
      };
    case "replay": {
      const { status, requestId: replayOf, headers } = completion.answer;
      const stream = headers["content-type"]?.startsWith("text/event-stream") ?? false;
      return { ...base, kind: "replay", status, code: null, model: null, stream, replayOf, waitedMs };
    }
  }
}

function modelOf(gateway: string | null): string | null {
  if (gateway === null) return null;
  const { public_model: model } = JSON.parse(gateway) as { public_model?: unknown };
  return typeof model === "string" && model !== "" ? model.slice(0, 200) : null;
}

// What the request log stores of a request that held nothing. Only for callers with a valid key: strangers leave no rows.
import type { Credential } from "../domain/credential.ts";
import type { RequestLogEntry } from "../domain/request-log.ts";
import type { Refusal } from "../domain/refusals.ts";
import type { Completion } from "../gateway/complete.ts";
import { credentialOf } from "../gateway/credential.ts";

/** The longest key that can be valid; a longer one is refused, and recorded by its beginning. */
const KEY_LENGTH_MAX = 200;
const DETAILS_LENGTH_MAX = 1000;

interface Met {
  context: { request: Pick<Request, "headers">; requestId: string; receivedAtMs: number };
  authorization: string | Credential | null;
  surface: string;
  /** How long the caller waited for the outcome. */
  waitedMs: number;
}

/** Null for what the ledger records itself, and for callers without a valid key. */
export function requestLogEntry(
  completion: Completion,
  { context, authorization, surface, waitedMs }: Met,
): RequestLogEntry | null {
  if (completion.kind === "answer" || completion.kind === "stream") return null;
  if (completion.kind === "refused" && completion.gateway === null) return null;
  const { organizationId, keyId } = credentialOf(authorization);
  const { request, requestId, receivedAtMs: atMs } = context;
  const idempotencyKey = request.headers.get("idempotency-key")?.slice(0, KEY_LENGTH_MAX) ?? null;
  const base = { requestId, organizationId, keyId, atMs, idempotencyKey, surface, asked: completion.asked };
  switch (completion.kind) {
    case "refused": {
      const { status, code } = completion.refusal;
      return {
        ...base,
        kind: "refused",
        status,
        code,
        details: printed(completion.refusal),
        replayOf: null,
        waitedMs: null,
      };
    }
    case "follow": {
      const replayOf = completion.requestId;
      return { ...base, kind: "replay", status: 200, code: null, details: null, replayOf, waitedMs };
    }
    case "replay": {
      const { status, requestId: replayOf } = completion.answer;
      return { ...base, kind: "replay", status, code: null, details: null, replayOf, waitedMs };
    }
  }
}

/**
 * What the refusal named, where it was wrong, and how long to wait. Figures are few and short; longer ones are left out rather than
 * cut.
 */
function printed({ details, param, retryAfterMs }: Refusal): string | null {
  const told = {
    ...details,
    ...(param !== null && { param }),
    ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
  };
  if (Object.keys(told).length === 0) return null;
  const text = JSON.stringify(told);
  return text.length <= DETAILS_LENGTH_MAX ? text : null;
}

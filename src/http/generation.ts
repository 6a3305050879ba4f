// GET /v1/generation?id=: what became of one request of the same key; no content (wire.md §5).
import { Refusal } from "../contract/refusals.ts";
import type { KeyRecord, Ledger, RequestRecord } from "../ledger/ledger.ts";
import { formatUsd } from "../contract/money.ts";
import { printGateway, receiptOfRecord } from "../gateway/receipt.ts";
import type { Handler } from "./context.ts";
import { withKey } from "./inference-door.ts";

const ID = /^(?:req_|chatcmpl-)([0-9a-f]{32})$/;

export const generation = (ledger: Pick<Ledger, "authenticate" | "request" | "release">): Handler =>
  withKey(ledger, async (context, key) => {
    const record = await ownRequest(ledger, key, { id: context.query.get("id"), param: "id" });
    const release = await ledger.release(record.releaseDigest);
    return new Response(printGeneration(record, printGateway(receiptOfRecord(record, release))), {
      headers: {
        "content-type": "application/json",
        "cache-control": "no-store",
        "x-request-id": context.requestId,
      },
    });
  });

/** A request of this key, by its request id or completion id. Throws `Refusal` for those of others, too. */
export async function ownRequest(
  ledger: Pick<Ledger, "request">,
  key: KeyRecord,
  { id, param }: { id: string | null; param: string | null },
): Promise<RequestRecord> {
  const tail = ID.exec(id ?? "")?.[1];
  const record = tail === undefined ? null : await ledger.request(`req_${tail}`);
  if (record?.keyId === key.id) return record;
  throw new Refusal(
    "generation_not_found",
    "There is no such request of this key. Send the x-request-id or the completion id of one.",
    { param },
  );
}

function printGeneration(record: RequestRecord, gateway: string): string {
  const { usage } = record;
  const head = JSON.stringify({
    object: "generation",
    id: record.requestId,
    state: record.state,
    created_at: new Date(record.admittedAtMs).toISOString(),
    hold_usd: formatUsd(record.hold),
    usage: usage && {
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      total_tokens: usage.promptTokens + usage.completionTokens,
    },
    finish_reason: record.finishReason,
    attempts: record.attempts.map((attempt) => ({
      route: attempt.route,
      outcome: attempt.outcome,
      status: attempt.upstreamStatus,
      ms: attempt.durationMs,
    })),
    timings: { first_part_ms: record.firstPartMs, total_ms: record.totalMs },
  });
  return `${head.slice(0, -1)},"gateway":${gateway}}`;
}

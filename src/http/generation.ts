// GET /v1/generation?id=: what became of one request of the same key; no content (wire.md §5).
import { Refusal } from "../domain/refusals.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { RequestRecord } from "../ledger/records.ts";
import type { HeldNothingJson } from "../api/shapes/requests.ts";
import { formatUsd } from "../domain/money.ts";
import { printTime } from "../domain/print.ts";
import { requestIdIn } from "../lib/id.ts";
import { printGateway, receiptOfRecord } from "../gateway/receipt.ts";
import type { Handler } from "./context.ts";
import { withKey } from "./inference-door.ts";
import { replyPrinted } from "./reply.ts";
import type { KeyRecord } from "../registry/api-keys.ts";
import { readRelease } from "../registry/releases.ts";
import { readRequest } from "../registry/requests.ts";

export interface GenerationPorts {
  ledger: Reader;
  /** A refused or replayed request by its id; null if the request log does not have it. */
  heldNothing(requestId: string): Promise<HeldNothingJson | null>;
}

export const generation = (ports: GenerationPorts): Handler =>
  withKey(ports.ledger, async (context, key) =>
    replyPrinted(context, await printed(ports, key, context.query.get("id"))),
  );

async function printed(on: GenerationPorts, key: KeyRecord, id: string | null): Promise<string> {
  const { ledger } = on;
  const requestId = requestIdOf(id);
  const record = requestId === null ? null : await readRequest(ledger, requestId);
  if (record?.keyId === key.id) {
    const release = await readRelease(ledger, record.releaseDigest);
    return printGeneration(record, printGateway(receiptOfRecord(record, release)));
  }
  const held = requestId === null || record !== null ? null : await on.heldNothing(requestId);
  if (held?.key === key.id) return printHeldNothing(held);
  throw notFound("id");
}

/** A request of this key, by its request id or completion id. Throws `Refusal` also for other keys' requests. */
export async function ownRequest(
  ledger: Reader,
  key: KeyRecord,
  { id, param }: { id: string | null; param: string | null },
): Promise<RequestRecord> {
  const requestId = requestIdOf(id);
  const record = requestId === null ? null : await readRequest(ledger, requestId);
  if (record?.keyId === key.id) return record;
  throw notFound(param);
}

const ID = /^req_[0-9a-f]{32}$/;

function requestIdOf(given: string | null): string | null {
  const id = requestIdIn(given ?? "");
  return ID.test(id) ? id : null;
}

const notFound = (param: string | null): Refusal =>
  new Refusal(
    "generation_not_found",
    "This key made no such request. Send the x-request-id or the completion id of one that it made.",
    { param },
  );

/** A request that held nothing has no usage and no receipt: prints what it asked for, and why it was refused. */
function printHeldNothing({ id, key: _key, org: _org, received_at, ...told }: HeldNothingJson): string {
  return JSON.stringify({ object: "generation", id, created_at: received_at, ...told, usage: null });
}

function printGeneration(record: RequestRecord, gateway: string): string {
  const { usage } = record;
  const head = JSON.stringify({
    object: "generation",
    id: record.requestId,
    state: record.state,
    created_at: printTime(record.admittedAtMs),
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

// The spans of one request, made from its hold and its record when it is resolved: request → admit → each attempt →
// settle. They contain only figures, ids and words of closed lists: never a prompt, an answer, a provider's words or
// a secret.
import { formatUsd } from "../domain/money.ts";
import { ATTRIBUTE, operationOf, SPAN } from "../domain/telemetry-names.ts";
import type { Format } from "../gateway/formats/format.ts";
import type { Admitted } from "../gateway/hold.ts";
import { newSpanId, type RequestTrace } from "../gateway/trace.ts";
import type { Settlement, Voiding } from "../ledger/ledger.ts";
import type { AttemptRecord, TokenUsage } from "../ledger/records.ts";
import type { Attributes, Span } from "./otlp.ts";

/** A request whose hold was resolved. */
export interface Resolved {
  trace: RequestTrace;
  admitted: Admitted;
  attempts: readonly AttemptRecord[];
  ending: Settlement | Voiding;
  endMs: number;
  /** `gen_ai.provider.name` by a provider's name in the configuration. */
  providerNames: ReadonlyMap<string, string>;
}

export function spansOfResolved(resolved: Resolved): Span[] {
  const { trace, admitted, attempts, ending, endMs } = resolved;
  const settlingAtMs = trace.settlingAtMs ?? endMs;
  const error = errorOf(ending, attempts);
  const root = requestSpan(trace, { ...admitted, endMs });
  root.failed = ending.status >= 500 || (error !== null && ending.status < 400);
  Object.assign(root.attributes, {
    [ATTRIBUTE.status]: ending.status,
    [ATTRIBUTE.organizationId]: admitted.organizationId,
    [ATTRIBUTE.keyId]: admitted.keyId,
    ...(error !== null && { [ATTRIBUTE.errorType]: error }),
  });
  return [
    root,
    admitSpan(trace, {
      endMs: trace.admittedAtMs ?? settlingAtMs,
      attributes: {
        [ATTRIBUTE.holdUsd]: formatUsd(admitted.amount),
        [ATTRIBUTE.promptTokensMax]: admitted.promptTokensMax,
      },
    }),
    ...attempts.map((attempt) => attemptSpan(resolved, attempt)),
    childOf(trace, {
      name: SPAN.settle,
      startMs: settlingAtMs,
      endMs,
      attributes: moneyOf(ending),
    }),
  ];
}

/** A request that held nothing: refused, replayed, or joined to a running one. */
export function spansOfUnheld(
  trace: RequestTrace,
  of: RequestAsked & { outcome: string; status: number; error: string | null },
): Span[] {
  const root = requestSpan(trace, of);
  root.failed = of.status >= 500;
  Object.assign(root.attributes, {
    [ATTRIBUTE.status]: of.status,
    [ATTRIBUTE.outcome]: of.outcome,
    ...(of.error !== null && { [ATTRIBUTE.errorType]: of.error }),
  });
  return [root, admitSpan(trace, { endMs: of.endMs, attributes: { [ATTRIBUTE.outcome]: of.outcome } })];
}

interface RequestAsked {
  format: Pick<Format, "path" | "surface">;
  requestId: string;
  endMs: number;
}

const requestSpan = (trace: RequestTrace, { format, requestId, endMs }: RequestAsked): Span => ({
  traceId: trace.begun.traceId,
  spanId: trace.spanId,
  parentId: trace.begun.parentId,
  name: `POST ${format.path}`,
  kind: "server",
  startMs: trace.begun.receivedAtMs,
  endMs,
  attributes: {
    [ATTRIBUTE.method]: "POST",
    [ATTRIBUTE.path]: format.path,
    [ATTRIBUTE.surface]: format.surface,
    [ATTRIBUTE.requestId]: requestId,
  },
  failed: false,
});

const admitSpan = (trace: RequestTrace, of: Pick<Span, "endMs" | "attributes">): Span =>
  childOf(trace, { name: SPAN.admit, startMs: trace.begun.receivedAtMs, ...of });

const childOf = (trace: RequestTrace, of: Pick<Span, "name" | "startMs" | "endMs" | "attributes">): Span => ({
  traceId: trace.begun.traceId,
  spanId: newSpanId(),
  parentId: trace.spanId,
  kind: "internal",
  failed: false,
  ...of,
});

/** The span of one call to a provider. Only the last call gets the charged tokens, so that sums over spans are right. */
function attemptSpan(
  { trace, admitted, attempts, ending, providerNames }: Resolved,
  attempt: AttemptRecord,
): Span {
  const { request, outputCeiling, format } = admitted;
  const operation = operationOf(format.surface);
  const served = attempt === attempts.at(-1) && "usage" in ending ? ending : null;
  const upstreamModel = admitted.candidates.find(({ release }) => release.route === attempt.route)?.release
    .upstreamModel;
  return {
    traceId: trace.begun.traceId,
    spanId: trace.attemptId(attempt.n),
    parentId: trace.spanId,
    name: `${operation} ${request.model}`,
    kind: "client",
    startMs: attempt.startedAtMs,
    endMs: attempt.startedAtMs + attempt.durationMs,
    attributes: {
      [ATTRIBUTE.operation]: operation,
      [ATTRIBUTE.provider]: providerNames.get(attempt.provider) ?? attempt.provider,
      [ATTRIBUTE.requestModel]: request.model,
      [ATTRIBUTE.maxTokens]: outputCeiling,
      [ATTRIBUTE.stream]: request.stream,
      ...(request.n > 1 && { [ATTRIBUTE.choices]: request.n }),
      ...(upstreamModel !== undefined && { [ATTRIBUTE.responseModel]: upstreamModel }),
      ...responseId(attempt.upstreamId),
      [ATTRIBUTE.configuredProvider]: attempt.provider,
      [ATTRIBUTE.route]: attempt.route,
      [ATTRIBUTE.attempt]: attempt.n,
      ...(attempt.upstreamStatus !== null && { [ATTRIBUTE.status]: attempt.upstreamStatus }),
      ...(attempt.errorClass !== null && { [ATTRIBUTE.errorType]: attempt.errorClass }),
      ...(served !== null && servedAttributes(served, request.stream)),
    },
    failed: attempt.errorClass !== null,
  };
}

const servedAttributes = ({ usage, finishReason, firstPartMs }: Settlement, stream: boolean): Attributes => ({
  ...usageAttributes(usage),
  ...(finishReason !== null && { [ATTRIBUTE.finishReasons]: [finishReason] }),
  ...(stream && firstPartMs !== null && { [ATTRIBUTE.firstChunkSeconds]: firstPartMs / 1000 }),
});

function usageAttributes(usage: TokenUsage): Attributes {
  const { cachedTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    [ATTRIBUTE.inputTokens]: usage.promptTokens,
    [ATTRIBUTE.outputTokens]: usage.completionTokens,
    ...(cachedTokens !== null && { [ATTRIBUTE.cacheReadTokens]: cachedTokens }),
    ...(cacheWriteTokens !== undefined && { [ATTRIBUTE.cacheWriteTokens]: cacheWriteTokens }),
    ...(reasoningTokens !== null && { [ATTRIBUTE.reasoningTokens]: reasoningTokens }),
  };
}

/** Only if it looks like an id: a provider may write anything into it. */
const responseId = (id: string | null): Attributes =>
  id !== null && /^[\w.:-]{1,128}$/.test(id) ? { [ATTRIBUTE.responseId]: id } : {};

const moneyOf = (ending: Settlement | Voiding): Attributes =>
  "charge" in ending
    ? {
        [ATTRIBUTE.outcome]: "settled",
        [ATTRIBUTE.chargeUsd]: formatUsd(ending.charge),
        [ATTRIBUTE.varianceUsd]: formatUsd(ending.variance),
        [ATTRIBUTE.evidence]: ending.evidence,
      }
    : { [ATTRIBUTE.outcome]: "released" };

/** Returns why the request failed; null if it did not. */
function errorOf(ending: Settlement | Voiding, attempts: readonly AttemptRecord[]): string | null {
  if ("errorCode" in ending) return ending.errorCode;
  return ending.finishReason === null ? (attempts.at(-1)?.errorClass ?? null) : null;
}

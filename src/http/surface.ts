// POST on a surface: bytes in, bytes out, printed by its format. The way of the request itself is `gateway/complete`.
import { complete, type Completion, type CompletePorts } from "../gateway/complete.ts";
import { authorizationOf, type Credential } from "../domain/credential.ts";
import type { RequestLogEntry } from "../domain/request-log.ts";
import { isOverloaded } from "../domain/overloaded.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Followed } from "../gateway/attach.ts";
import type { Format } from "../gateway/formats/format.ts";
import { checkJsonBody, readJsonBody } from "./body.ts";
import type { HttpContext } from "./context.ts";
import { requestLogEntry } from "./request-log-entry.ts";
import { idHeaders, replyRefusal } from "./reply.ts";
import { type EventStreams, STREAM_HEADERS } from "./sse.ts";
import type { Uploads } from "../limits/uploads.ts";
import type { Tracing } from "../tracing/tracing.ts";

export interface SurfacePorts {
  complete: CompletePorts;
  streams: EventStreams;
  uploads: Uploads;
  bodyBytes: number;
  /** How long a client may leave its stream unread, milliseconds. */
  streamIdleMs: number;
  draining(): boolean;
  /** Told about requests that held nothing: refused ones and replays. */
  noteHeldNothing?(entry: RequestLogEntry): void;
  /** Told about each request that is refused with `overloaded`. */
  overloaded?(): void;
  /** Told of each request that was refused before it held anything, with the refusal's code. */
  refused?(code: string): void;
  /** Null where nothing is traced. */
  tracing: Tracing | null;
}

/** What a request shows instead of its header and body: the playground's key and its inner request. */
interface Inner {
  authorization: string | Credential;
  body: Uint8Array;
}

const UPLOAD_SECONDS = 30;

export type SurfaceHandler = (context: SurfaceContext, inner?: Inner) => Promise<Response>;
type SurfaceContext = Pick<HttpContext, "request" | "requestId" | "receivedAtMs" | "setIdleTimeout">;

export function surface(ports: SurfacePorts, format: Format): SurfaceHandler {
  return async (context, inner) => {
    try {
      return await serve(ports, format, { context, inner });
    } catch (error) {
      if (isOverloaded(error)) ports.overloaded?.();
      throw error;
    }
  };
}

async function serve(
  ports: SurfacePorts,
  format: Format,
  { context, inner }: { context: SurfaceContext; inner: Inner | undefined },
): Promise<Response> {
  const { request, requestId, receivedAtMs } = context;
  if (ports.draining()) throw stopping();
  context.setIdleTimeout(UPLOAD_SECONDS);
  const authorization = inner?.authorization ?? authorizationOf(request.headers, format.credentialHeader);
  const trace = ports.tracing?.begin(request.headers.get("traceparent"), receivedAtMs) ?? null;
  const completion = await complete(ports.complete, {
    format,
    requestId,
    receivedAtMs,
    trace,
    authorization,
    idempotencyKey: request.headers.get("idempotency-key"),
    header: (name) => request.headers.get(name),
    lastEventId: request.headers.get("last-event-id"),
    signal: request.signal,
    checkBody: () => {
      if (inner === undefined) checkJsonBody(request, ports.bodyBytes);
    },
    readBody: async (organizationId) => {
      const terms = { uploads: ports.uploads, account: organizationId, limitBytes: ports.bodyBytes };
      const body = inner?.body ?? (await readJsonBody(request, terms));
      context.setIdleTimeout(0); // Bun would cut a silent answer without a word, and clients would pay again
      return body;
    },
  });
  const response = respond(ports, format, { context, completion }); // from here on a stream is pulled, so that its hold ends
  if (trace !== null) ports.tracing?.concluded(trace, completion, { format, requestId });
  const nowMs = ports.complete.clock.nowMs();
  const entry =
    ports.noteHeldNothing &&
    requestLogEntry(completion, { context, authorization, surface: format.surface, nowMs });
  if (entry) ports.noteHeldNothing?.(entry);
  if (completion.kind === "refused") {
    ports.refused?.(completion.refusal.code);
    if (isOverloaded(completion.refusal)) ports.overloaded?.();
  }
  return response;
}

const stopping = (): Refusal =>
  new Refusal("overloaded", "The gateway is stopping. Send the request again.", { retryAfterMs: 1000 });

function respond(
  ports: SurfacePorts,
  format: Format,
  { context, completion }: { context: SurfaceContext; completion: Completion },
): Response {
  const { requestId } = context;
  switch (completion.kind) {
    case "answer":
      return new Response(completion.body, {
        status: completion.status,
        headers: { ...completion.headers, ...idHeaders(format, requestId) },
      });
    case "stream":
      return streamed(ports, context, { ...completion, requestId, format });
    case "follow":
      return streamed(ports, context, { ...completion, format });
    case "replay": {
      const { status, headers, body, requestId: original } = completion.answer;
      return new Response(body, { status, headers: { ...headers, ...idHeaders(format, original) } });
    }
    case "refused":
      return replyRefusal(requestId, completion.refusal, { ...completion, format });
  }
}

function streamed(
  { streams, streamIdleMs }: SurfacePorts,
  context: SurfaceContext,
  {
    relayed,
    headers,
    requestId,
    format,
  }: Pick<Followed, "relayed" | "headers" | "requestId"> & { format: Format },
): Response {
  context.setIdleTimeout(Math.min(Math.ceil(streamIdleMs / 1000), IDLE_SECONDS_MAX));
  return new Response(streams.body(relayed, context.request.signal), {
    headers: { ...headers, ...STREAM_HEADERS, ...idHeaders(format, requestId) },
  });
}

/** Bun counts idle seconds in eight bits. */
const IDLE_SECONDS_MAX = 255;

// POST on a surface: bytes in, bytes out, printed by its format. `gateway/complete` runs the request itself.
import { complete, type Completion, type CompletePorts } from "../gateway/complete.ts";
import { authorizationOf, type Credential } from "../domain/credential.ts";
import { credentialOf } from "../gateway/credential.ts";
import type { RequestLogEntry } from "../domain/request-log.ts";
import { isOverloaded } from "../domain/overloaded.ts";
import { Refusal } from "../domain/refusals.ts";
import { SMALL_BYTES } from "../gateway/answer-room.ts";
import type { Followed } from "../gateway/attach.ts";
import { EVENT_STREAM } from "../gateway/event-stream.ts";
import type { Format, HeaderOf } from "../gateway/formats/format.ts";
import type { Incoming } from "../gateway/incoming.ts";
import type { RequestTrace } from "../gateway/trace.ts";
import { type BodyTerms, checkJsonBody, readCheckedBody } from "./body.ts";
import type { HttpContext } from "./context.ts";
import { requestLogEntry } from "./request-log-entry.ts";
import { largeAnswer } from "./large-answer.ts";
import { noteCode, replyRefusal, withIds } from "./reply.ts";
import { type EventStreams, STREAM_HEADERS } from "./sse.ts";
import type { Room } from "../limits/byte-rooms.ts";
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
  /** Called for requests that held nothing: refused ones and replays. */
  noteHeldNothing?(entry: RequestLogEntry): void;
  /** Called for each request that is refused with `overloaded`. */
  overloaded?(): void;
  /** Called for each request that was refused before it held anything, with the refusal's code. */
  refused?(code: string): void;
  /** Null if tracing is off. */
  tracing: Tracing | null;
}

/** What a request carries instead of its header and body: the playground's key and its inner request. */
interface Inner {
  authorization: string | Credential;
  body: Uint8Array;
}

const UPLOAD_SECONDS = 30;

export type SurfaceHandler = (context: SurfaceContext, inner?: Inner) => Promise<Response>;
type SurfaceContext = Pick<
  HttpContext,
  "request" | "requestId" | "receivedAtMs" | "setIdleTimeout" | "sending"
> &
  Partial<Pick<HttpContext, "org">>;

/** Throws `Refusal` for anything refused before the first byte; the server prints it in the route's format. */
export function surface(ports: SurfacePorts, format: Format): SurfaceHandler {
  return (context, inner) => serve(ports, format, { context, inner });
}

async function serve(
  ports: SurfacePorts,
  format: Format,
  of: { context: SurfaceContext; inner: Inner | undefined },
): Promise<Response> {
  try {
    if (ports.draining()) throw stopping();
    const arrived = new Arrived(ports, format, of);
    const completion = await complete(ports.complete, arrived);
    const response = respond(ports, arrived, completion); // from here on a stream is pulled, so that its hold ends
    conclude(ports, arrived, completion);
    return response;
  } catch (error) {
    if (isOverloaded(error)) ports.overloaded?.();
    throw error;
  }
}

/** A request as it came over HTTP, for the gateway: read only when the gateway asks for it. */
class Arrived implements Incoming, BodyTerms {
  readonly requestId: string;
  readonly receivedAtMs: number;
  /** Monotonic clock. */
  readonly arrivedMs: number;
  readonly trace: RequestTrace | null;
  readonly authorization: string | Credential | null;
  readonly idempotencyKey: string | null;
  readonly signal: AbortSignal;
  readonly context: SurfaceContext;
  private readonly body: Uint8Array | null;
  /** The account whose upload room the body takes. */
  account = "";

  constructor(
    private readonly ports: SurfacePorts,
    readonly format: Format,
    { context, inner }: { context: SurfaceContext; inner: Inner | undefined },
  ) {
    const { request } = context;
    const { headers } = request;
    context.setIdleTimeout(UPLOAD_SECONDS);
    this.context = context;
    this.requestId = context.requestId;
    this.receivedAtMs = context.receivedAtMs;
    this.arrivedMs = ports.complete.clock.monotonicMs();
    this.authorization = inner?.authorization ?? authorizationOf(headers, format.credentialHeader);
    this.body = inner?.body ?? null;
    this.trace = ports.tracing?.begin(headers.get("traceparent"), context.receivedAtMs) ?? null;
    this.idempotencyKey = headers.get("idempotency-key");
    this.signal = request.signal;
  }

  get header(): HeaderOf {
    const { headers } = this.context.request;
    return (name) => headers.get(name);
  }

  get lastEventId(): string | null {
    return this.context.request.headers.get("last-event-id");
  }

  checkBody(): void {
    if (this.body === null) checkJsonBody(this.context.request, this.ports.bodyBytes);
  }

  readBody(organizationId: string): Promise<Uint8Array> {
    if (this.body !== null) {
      this.received();
      return Promise.resolve(this.body);
    }
    this.account = organizationId;
    this.context.org = organizationId;
    return readCheckedBody(this.context.request, this);
  }

  get uploads(): Uploads {
    return this.ports.uploads;
  }

  get limitBytes(): number {
    return this.ports.bodyBytes;
  }

  /** Bun would silently cut an answer that is idle, and clients would pay again. */
  received(): void {
    this.context.setIdleTimeout(0);
  }
}

/** Reports requests that held nothing or were refused. */
function conclude(ports: SurfacePorts, arrived: Arrived, completion: Completion): void {
  const { format, trace, context, authorization } = arrived;
  if (trace !== null) ports.tracing?.concluded(trace, completion, arrived);
  if (completion.kind === "answer" || completion.kind === "stream") return;
  const waitedMs = Math.round(ports.complete.clock.monotonicMs() - arrived.arrivedMs);
  const entry =
    ports.noteHeldNothing &&
    requestLogEntry(completion, { context, authorization, surface: format.surface, waitedMs });
  if (entry) ports.noteHeldNothing?.(entry);
  if (completion.kind !== "refused") return;
  // Refused before its body was read, with a key that was proven.
  if (completion.gateway !== null) context.org ??= credentialOf(authorization).organizationId;
  ports.refused?.(completion.refusal.code);
  if (isOverloaded(completion.refusal)) ports.overloaded?.();
}

const stopping = (): Refusal =>
  new Refusal("overloaded", "The gateway is stopping. Send the request again.", { retryAfterMs: 1000 });

function respond(ports: SurfacePorts, arrived: Arrived, completion: Completion): Response {
  const { format, requestId } = arrived;
  switch (completion.kind) {
    case "answer": {
      const { status, headers, body } = completion;
      const told = status === 400 && typeof body === "string" ? inStream(arrived, body, headers) : null;
      if (told !== null) return told;
      const init = { status, headers: withIds(headers, format, requestId) };
      return new Response(whole(ports, arrived, completion), init);
    }
    case "stream":
      return streamed(ports, arrived, { ...completion, requestId });
    case "follow":
      return streamed(ports, arrived, completion);
    case "replay": {
      const { room, answer } = completion;
      const { status, headers, body, requestId: original } = answer;
      const init = { status, headers: withIds({ ...headers }, format, original) };
      return new Response(whole(ports, arrived, { body, room }), init);
    }
    case "refused": {
      const reply = replyRefusal(requestId, completion.refusal, { ...completion, format });
      if (reply.status !== 400) return reply;
      const error = format.printError(completion.refusal, requestId, completion.gateway);
      const events = inStream(arrived, error, Object.fromEntries(reply.headers));
      return events === null ? reply : noteCode(events, completion.refusal.code);
    }
  }
}

/**
 * A client that does not read a long answer is cut, like that of a stream: the answer stays in memory until then. The end of an
 * answer handed over in one piece is not reported; its socket times out after the same idle time.
 */
function whole<Body extends string | Uint8Array>(
  ports: SurfacePorts,
  { context, signal }: Arrived,
  { body, room = null }: { body: Body; room?: Room | null },
): Body | AsyncIterable<Uint8Array> {
  const sent = body.length > SMALL_BYTES ? context.sending(idleSeconds(ports)) : undefined;
  return room === null ? body : largeAnswer(body, { room, client: signal, sent });
}

/** A refusal that its client recognizes only inside a stream; null for all others. */
function inStream(
  { format, header, requestId }: Arrived,
  error: string,
  headers: Record<string, string>,
): Response | null {
  const events = format.refusedInStream?.(error, header) ?? null;
  if (events === null) return null;
  const own = { ...headers, ...STREAM_HEADERS, "content-type": EVENT_STREAM };
  return new Response(events, { headers: withIds(own, format, requestId) });
}

function streamed(
  { streams, streamIdleMs }: SurfacePorts,
  { context, format }: Arrived,
  { relayed, headers, requestId }: Pick<Followed, "relayed" | "headers" | "requestId">,
): Response {
  const sent = context.sending(idleSeconds({ streamIdleMs }));
  return new Response(streams.body(relayed, context.request.signal, sent), {
    headers: withIds({ ...headers, ...STREAM_HEADERS }, format, requestId),
  });
}

/** Bun stores idle seconds in eight bits. */
const IDLE_SECONDS_MAX = 255;

const idleSeconds = ({ streamIdleMs }: Pick<SurfacePorts, "streamIdleMs">): number =>
  Math.min(Math.ceil(streamIdleMs / 1000), IDLE_SECONDS_MAX);

// POST /v1/chat/completions: bytes in, bytes out. The way of the request itself is `gateway/complete`.
import { complete, type Completion, type CompletePorts } from "../gateway/complete.ts";
import type { Credential } from "../contract/credential.ts";
import type { JournalEntry } from "../contract/journal.ts";
import { isOverloaded } from "../contract/overloaded.ts";
import { Refusal } from "../contract/refusals.ts";
import type { Followed } from "../gateway/attach.ts";
import { readJsonBody } from "./body.ts";
import type { HttpContext } from "./context.ts";
import { journalEntry } from "./journal-entry.ts";
import { replyRefusal } from "./reply.ts";
import { type EventStreams, STREAM_HEADERS } from "./sse.ts";

export interface ChatPorts {
  complete: CompletePorts;
  streams: EventStreams;
  bodyBytes: number;
  /** How long a client may leave its stream unread, milliseconds. */
  streamIdleMs: number;
  /** Requests that may be in progress at once; the next one is shed before anything is held. */
  maxConcurrent: number;
  draining(): boolean;
  /** Told about requests that held nothing: refused ones and replays. */
  heldNothing?(entry: JournalEntry): void;
  /** Told about each request that is refused with `overloaded`. */
  overloaded?(): void;
}

/** What a request shows instead of its header and body: the playground's key and its inner request. */
export interface Inner {
  authorization: string | Credential;
  body: Uint8Array;
}

const UPLOAD_SECONDS = 30;

export type ChatHandler = (context: ChatContext, inner?: Inner) => Promise<Response>;
export type ChatContext = Pick<HttpContext, "request" | "requestId" | "receivedAtMs" | "setIdleTimeout">;

export function chat(ports: ChatPorts): ChatHandler {
  const progress = { running: 0 };
  return async (context, inner) => {
    try {
      assertRoom(ports, progress.running);
    } catch (error) {
      ports.overloaded?.();
      throw error;
    }
    progress.running += 1;
    try {
      return await serve(ports, context, inner);
    } finally {
      progress.running -= 1;
    }
  };
}

async function serve(ports: ChatPorts, context: ChatContext, inner?: Inner): Promise<Response> {
  const { request, requestId, receivedAtMs } = context;
  context.setIdleTimeout(UPLOAD_SECONDS);
  const authorization = inner?.authorization ?? request.headers.get("authorization");
  const completion = await complete(ports.complete, {
    requestId,
    receivedAtMs,
    authorization,
    idempotencyKey: request.headers.get("idempotency-key"),
    lastEventId: request.headers.get("last-event-id"),
    signal: request.signal,
    readBody: async () => {
      const body = inner?.body ?? (await readJsonBody(request, ports.bodyBytes));
      context.setIdleTimeout(0); // Bun would cut a silent answer without a word, and clients would pay again
      return body;
    },
  });
  const nowMs = ports.complete.clock.nowMs();
  const entry = ports.heldNothing && journalEntry(completion, { context, authorization, nowMs });
  if (entry) ports.heldNothing?.(entry);
  if (completion.kind === "refused" && isOverloaded(completion.refusal)) ports.overloaded?.();
  return respond(ports, context, completion);
}

/** Refuses when the gateway stops or is full. Throws `Refusal`. */
function assertRoom(ports: ChatPorts, running: number): void {
  if (ports.draining())
    throw new Refusal("overloaded", "The gateway is stopping. Send the request again.", {
      retryAfterMs: 1000,
    });
  if (running + ports.streams.size >= ports.maxConcurrent)
    throw new Refusal(
      "overloaded",
      "The gateway has as many requests in progress as it may. Send the request again shortly.",
      { retryAfterMs: 1000 },
    );
}

function respond(ports: ChatPorts, context: ChatContext, completion: Completion): Response {
  const { requestId } = context;
  switch (completion.kind) {
    case "answer":
      return new Response(completion.body, {
        status: completion.status,
        headers: { ...completion.headers, "x-request-id": requestId },
      });
    case "stream":
      return streamed(ports, context, { ...completion, requestId });
    case "follow":
      return streamed(ports, context, completion);
    case "replay": {
      const { status, headers, body, requestId: original } = completion.answer;
      return new Response(body, { status, headers: { ...headers, "x-request-id": original } });
    }
    case "refused":
      return replyRefusal(requestId, completion.refusal, completion);
  }
}

function streamed(
  { streams, streamIdleMs }: ChatPorts,
  context: ChatContext,
  { relayed, headers, requestId }: Pick<Followed, "relayed" | "headers" | "requestId">,
): Response {
  context.setIdleTimeout(Math.min(Math.ceil(streamIdleMs / 1000), IDLE_SECONDS_MAX));
  return new Response(streams.body(relayed, context.request.signal), {
    headers: { ...headers, ...STREAM_HEADERS, "x-request-id": requestId },
  });
}

/** Bun counts idle seconds in eight bits. */
const IDLE_SECONDS_MAX = 255;

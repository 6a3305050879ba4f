// POST /v1/chat/completions: bytes in, bytes out. The way of the request itself is `gateway/complete`.
import { complete, type Completion, type CompletePorts } from "../gateway/complete.ts";
import { readJsonBody } from "./body.ts";
import type { Handler, HttpContext } from "./context.ts";
import { replyRefusal } from "./reply.ts";
import { type EventStreams, STREAM_HEADERS } from "./sse.ts";

export interface ChatPorts {
  complete: CompletePorts;
  streams: EventStreams;
  bodyBytes: number;
}

const UPLOAD_SECONDS = 30;

export function chat(ports: ChatPorts): Handler {
  return async (context) => {
    const { request, requestId, receivedAtMs } = context;
    context.setIdleTimeout(UPLOAD_SECONDS);
    const completion = await complete(ports.complete, {
      requestId,
      receivedAtMs,
      authorization: request.headers.get("authorization"),
      idempotencyKey: request.headers.get("idempotency-key"),
      signal: request.signal,
      readBody: async () => {
        const body = await readJsonBody(request, ports.bodyBytes);
        context.setIdleTimeout(0); // Bun would cut a silent answer without a word, and clients would pay again
        return body;
      },
    });
    return respond(ports, context, completion);
  };
}

function respond(ports: ChatPorts, { requestId }: HttpContext, completion: Completion): Response {
  switch (completion.kind) {
    case "answer":
      return new Response(completion.body, {
        status: completion.status,
        headers: { ...completion.headers, "x-request-id": requestId },
      });
    case "stream":
      return new Response(ports.streams.body(completion.relayed), {
        headers: { ...completion.headers, ...STREAM_HEADERS, "x-request-id": requestId },
      });
    case "replay": {
      const { answer } = completion;
      const headers = { ...answer.headers, "x-request-id": answer.requestId, "idempotent-replayed": "true" };
      return new Response(answer.body, { status: answer.status, headers });
    }
    case "refused":
      return replyRefusal(requestId, completion.refusal, completion);
  }
}

// POST /v1/chat/completions/quote: same body and validation as the call itself; holds nothing (wire.md §5).
import { preview, type PreviewPorts } from "../gateway/preview.ts";
import { readJsonBody } from "./body.ts";
import type { Handler } from "./context.ts";
import { replyJson } from "./reply.ts";

export function quote(ports: PreviewPorts, bodyBytes: number): Handler {
  return async (context) => {
    const { request, requestId, receivedAtMs } = context;
    const quoted = await preview(ports, {
      requestId,
      receivedAtMs,
      authorization: request.headers.get("authorization"),
      idempotencyKey: null,
      lastEventId: null,
      signal: request.signal,
      readBody: () => readJsonBody(request, bodyBytes),
    });
    return replyJson(context, quoted);
  };
}

// POST on a surface's path and /quote: same body and validation as the call itself; holds nothing (wire.md §5).
import { authorizationOf } from "../domain/credential.ts";
import type { Format } from "../gateway/formats/format.ts";
import { preview, type PreviewPorts } from "../gateway/preview.ts";
import { checkJsonBody, readJsonBody } from "./body.ts";
import type { Handler } from "./context.ts";
import { replyJson } from "./reply.ts";
import type { Uploads } from "../limits/uploads.ts";

export function quote(
  format: Format,
  { complete: ports, uploads, bodyBytes }: { complete: PreviewPorts; uploads: Uploads; bodyBytes: number },
): Handler {
  return async (context) => {
    const { request, requestId, receivedAtMs } = context;
    const quoted = await preview(ports, {
      format,
      requestId,
      receivedAtMs,
      trace: null,
      authorization: authorizationOf(request.headers, format.credentialHeader),
      idempotencyKey: null,
      header: (name) => request.headers.get(name),
      lastEventId: null,
      signal: request.signal,
      checkBody: () => checkJsonBody(request, bodyBytes),
      readBody: (account) => readJsonBody(request, { uploads, account, limitBytes: bodyBytes }),
    });
    return replyJson(context, quoted);
  };
}

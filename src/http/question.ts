// A free question about a call (what it would hold, how many tokens it has), as the gateway reads the call itself: its body and its
// credential, and nothing that would store, resume or trace an answer.
import { authorizationOf } from "../domain/credential.ts";
import type { Format } from "../gateway/formats/format.ts";
import type { Incoming } from "../gateway/incoming.ts";
import type { Uploads } from "../limits/uploads.ts";
import { checkJsonBody, readJsonBody } from "./body.ts";
import type { HttpContext } from "./context.ts";

export interface QuestionPorts {
  uploads: Uploads;
  bodyBytes: number;
}

/** The question as it came over HTTP. Throws `Refusal` 401 for two different keys. */
export function questionOf(
  format: Format,
  context: HttpContext,
  { uploads, bodyBytes }: QuestionPorts,
): Incoming {
  const { request, requestId, receivedAtMs } = context;
  return {
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
    readBody: (account) => {
      context.org = account;
      return readJsonBody(request, { uploads, account, limitBytes: bodyBytes });
    },
  };
}

// POST /v1/messages/count_tokens: bytes in, a number out. What is counted is `gateway/count-tokens`.
import { authorizationOf } from "../domain/credential.ts";
import { isJsonObject } from "../domain/read-value.ts";
import { type CountTokensPorts, PromptCounts } from "../gateway/count-tokens.ts";
import type { Format } from "../gateway/formats/format.ts";
import { messages } from "../gateway/formats/messages/messages.ts";
import type { Uploads } from "../limits/uploads.ts";
import { checkJsonBody, readJsonBody } from "./body.ts";
import type { Handler } from "./context.ts";
import { idHeaders } from "./reply.ts";

/** A message that is not answered needs no maximum. */
const counted: Format = {
  ...messages,
  path: `${messages.path}/count_tokens`,
  parse: (body, header) => messages.parse(isJsonObject(body) ? { max_tokens: 1, ...body } : body, header),
};

export const COUNT_TOKENS_PATH = counted.path;

export function messageTokens({
  complete: ports,
  uploads,
  bodyBytes,
}: {
  complete: CountTokensPorts;
  uploads: Uploads;
  bodyBytes: number;
}): Handler {
  const counts = new PromptCounts(ports);
  return async ({ request, requestId, receivedAtMs }) => {
    const tokens = await counts.count({
      format: counted,
      requestId,
      receivedAtMs,
      trace: null,
      authorization: authorizationOf(request.headers, messages.credentialHeader),
      idempotencyKey: null,
      header: (name) => request.headers.get(name),
      lastEventId: null,
      signal: request.signal,
      checkBody: () => checkJsonBody(request, bodyBytes),
      readBody: (account) => readJsonBody(request, { uploads, account, limitBytes: bodyBytes }),
    });
    return new Response(`{"input_tokens":${tokens}}`, {
      headers: {
        "content-type": "application/json",
        "cache-control": "no-store",
        ...idHeaders(messages, requestId),
      },
    });
  };
}

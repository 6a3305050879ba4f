// POST /v1/messages/count_tokens: bytes in, a number out. What is counted is `gateway/count-tokens`.
import { isJsonObject } from "../domain/read-value.ts";
import { type CountTokensPorts, PromptCounts } from "../gateway/count-tokens.ts";
import type { Format } from "../gateway/formats/format.ts";
import { messages } from "../gateway/formats/messages/messages.ts";
import type { Handler } from "./context.ts";
import { type QuestionPorts, questionOf } from "./question.ts";
import { withIds } from "./reply.ts";

/** A message that is not answered needs no maximum. */
const counted: Format = {
  ...messages,
  path: `${messages.path}/count_tokens`,
  parse: (body, header) => messages.parse(isJsonObject(body) ? { max_tokens: 1, ...body } : body, header),
};

export const COUNT_TOKENS_PATH = counted.path;

export function messageTokens(ports: QuestionPorts & { complete: CountTokensPorts }): Handler {
  const counts = new PromptCounts(ports.complete);
  return async (context) => {
    const tokens = await counts.count(questionOf(counted, context, ports));
    return new Response(`{"input_tokens":${tokens}}`, {
      headers: withIds(
        { "content-type": "application/json", "cache-control": "no-store" },
        messages,
        context.requestId,
      ),
    });
  };
}

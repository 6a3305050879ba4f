// How many tokens a prompt has, on the surfaces whose clients ask: bytes in, a number out. `gateway/count-tokens` does the
// counting.
import { isJsonObject } from "../domain/read-value.ts";
import { type CountTokensPorts, PromptCounts } from "../gateway/count-tokens.ts";
import type { Format } from "../gateway/formats/format.ts";
import { messages } from "../gateway/formats/messages/messages.ts";
import { responses } from "../gateway/formats/responses/responses.ts";
import type { Handler } from "./context.ts";
import { type QuestionPorts, questionOf } from "./question.ts";
import { unkeptHeaders, withIds } from "./reply.ts";

interface CountedSurface {
  /** Reads the request to count, and prints refusals. */
  format: Format;
  print: (tokens: number) => string;
}

const COUNTED: readonly CountedSurface[] = [
  {
    format: {
      ...messages,
      path: `${messages.path}/count_tokens`,
      // A message that is not answered needs no maximum.
      parse: (body, header) => messages.parse(isJsonObject(body) ? { max_tokens: 1, ...body } : body, header),
    },
    print: (tokens) => `{"input_tokens":${tokens}}`,
  },
  {
    format: { ...responses, path: `${responses.path}/input_tokens` },
    print: (tokens) => `{"object":"response.input_tokens","input_tokens":${tokens}}`,
  },
];

/** The counting endpoints by path; they share the limit of concurrent counts. */
export function tokenCounts(
  ports: QuestionPorts & { complete: CountTokensPorts },
): { path: string; format: Format; handler: Handler }[] {
  const counts = new PromptCounts(ports.complete);
  return COUNTED.map(({ format, print }) => ({
    path: format.path,
    format,
    handler: async (context) => {
      const tokens = await counts.count(questionOf(format, context, ports));
      const headers = withIds(unkeptHeaders(context.requestId), format, context.requestId);
      return new Response(print(tokens), { headers });
    },
  }));
}

// The `response` object of an answer: what it says about its request, its output, and its cost (surfaces.md §5). Instructions and
// tools, the two that grow, are not repeated: their sender has them, and each stream would send them three times.
import { isPresent, type JsonObject } from "../../../domain/read-value.ts";
import { wireJson } from "../../../domain/wire-json.ts";
import type { TokenUsage } from "../../../ledger/records.ts";
import type { FinishReason } from "../../../providers/provider.ts";
import type { AnswerHead } from "../format.ts";

/** The id of a response: the request's digits with another prefix. */
export const responseId = (requestId: string): string => `resp_${requestId.slice(4)}`;

/** The id of an item: the same digits, and its index. */
export const itemId = (requestId: string, prefix: string, index: number): string =>
  `${prefix}_${requestId.slice(4)}_${index}`;

type ResponseStatus = "in_progress" | "completed" | "incomplete" | "failed";

/** Why an answer is incomplete; absent for complete ones. */
export const REASONS: Partial<Record<FinishReason, string>> = {
  length: "max_output_tokens",
  content_filter: "content_filter",
};

/** The state of a response. */
export interface ResponseEnd {
  status: ResponseStatus;
  /** JSON text. */
  error?: string;
  /** Why it is incomplete. */
  reason?: string;
}

/** The members of a response that change while it runs; JSON text each. */
interface Told extends ResponseEnd {
  output: string;
  usage: string;
  gateway: string;
}

/** The part that is the same in every event of one response. */
export class ResponseHead {
  private readonly head: string;
  private readonly asked: string;

  constructor(head: AnswerHead, body: JsonObject) {
    this.head = `{"id":"${responseId(head.requestId)}","object":"response","created_at":${head.created}`;
    this.asked = `"model":${wireJson(head.model)},${askedFor(body)}`;
  }

  print({ status, output, usage, gateway, error = "null", reason }: Told): string {
    const details = reason === undefined ? "null" : `{"reason":"${reason}"}`;
    return `${this.head},"status":"${status}","error":${error},"incomplete_details":${details},"output":[${output}],${this.asked},"usage":${usage},"gateway":${gateway}}`;
  }
}

/** The request's fields as the vendor echoes them. */
function askedFor(body: JsonObject): string {
  const said = (name: string, otherwise: unknown): unknown =>
    isPresent(body[name]) ? body[name] : otherwise;
  const { effort = null, summary = null } = said("reasoning", {}) as JsonObject;
  return wireJson({
    instructions: null,
    max_output_tokens: said("max_output_tokens", null),
    metadata: said("metadata", {}),
    parallel_tool_calls: said("parallel_tool_calls", true),
    previous_response_id: null,
    prompt_cache_key: said("prompt_cache_key", null),
    reasoning: { effort, summary },
    safety_identifier: said("safety_identifier", null),
    store: false,
    background: false,
    access_programs: null,
    temperature: said("temperature", null),
    text: textOf(said("text", {}) as JsonObject),
    tool_choice: said("tool_choice", "auto"),
    tools: [],
    top_logprobs: said("top_logprobs", 0),
    top_p: said("top_p", null),
    truncation: said("truncation", "disabled"),
    ...(isPresent(body.user) && { user: body.user }),
  }).slice(1, -1);
}

const textOf = ({ format, ...others }: JsonObject): JsonObject => ({
  format: isPresent(format) ? format : { type: "text" },
  ...others,
});

/** `usage`: what was billed; clients require the details. */
export function printResponseUsage(usage: TokenUsage): string {
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage;
  const read = `{"cached_tokens":${cachedTokens ?? 0},"cache_write_tokens":${cacheWriteTokens ?? 0}}`;
  return `{"input_tokens":${promptTokens},"input_tokens_details":${read},"output_tokens":${completionTokens},"output_tokens_details":{"reasoning_tokens":${reasoningTokens ?? 0}},"total_tokens":${promptTokens + completionTokens}}`;
}

// Top-level fields that the Messages surface refuses by name: they cost, route, or are chat completions' names for what this shape
// has its own for. Every other unknown field goes through to upstreams of the same shape.
import type { RefusedField } from "../chat-completions/refused-fields.ts";
import { refusedOfChat } from "../refused-of-chat.ts";

interface Family extends RefusedField {
  names: string;
  /** Read by the vendor's client to continue by itself. */
  details?: { error_code: string };
}

const COSTS = "has costs of its own that no published rate covers. Remove it.";

const FAMILIES: readonly Family[] = [
  {
    code: "unsupported_parameter",
    text: COSTS,
    names: "container fallback_credit_token",
  },
  {
    code: "unsupported_parameter",
    text: COSTS,
    names: "speed",
    defaults: ["standard"],
  },
  {
    code: "unsupported_parameter",
    text: COSTS,
    names: "mcp_servers",
    defaults: [[]],
  },
  {
    code: "unsupported_parameter",
    text: "would choose who pays the provider; here your organization's credits do. Remove it.",
    names: "billing_policy",
    defaults: [{ type: "billing_policy" }, { type: "billing_policy", bill_to: "self" }],
  },
  {
    code: "unsupported_parameter",
    text: "asks for a summary instead of an answer, and has costs of its own. Ask for the summary in `messages`.",
    names: "compaction",
  },
  {
    code: "unsupported_parameter",
    text: "would choose what serves the request; only `model` and its published release decide that. Remove it.",
    names: "inference_geo fallback_model user_profile_id",
  },
  {
    code: "unsupported_parameter",
    text: "would choose what serves the request; only `model` and its published release decide that. Remove it.",
    names: "fallbacks",
    defaults: [[]],
  },
  {
    code: "unsupported_parameter",
    text: "is not supported: the gateway sets it itself. Remove it.",
    names: "anthropic_version",
  },
  {
    code: "unsupported_parameter",
    text: "is sent as a header here: use `anthropic-beta`.",
    names: "anthropic_beta betas",
  },
  {
    code: "unsupported_parameter",
    text: "asks for a stored conversation, but none is stored here. Remove it, and send all messages of the conversation.",
    names: "thread",
    details: { error_code: "thread_unsupported_request" },
  },
  { code: "unknown_parameter", text: "is not a parameter here. Remove it.", names: "__proto__" },
];

/** Refused by chat completions, but part of this shape. */
const READ_HERE = new Set(["top_k"]);

/** By name. */
export const REFUSED_OF_MESSAGES: ReadonlyMap<string, Omit<Family, "names">> = new Map<
  string,
  Omit<Family, "names">
>([
  ...refusedOfChat({
    "max_completion_tokens max_output_tokens": "Use `max_tokens`.",
    stop: "Use `stop_sequences`.",
    response_format: "Use `output_config.format`.",
    "reasoning_effort reasoning enable_thinking thinking_budget thinking_token_budget include_reasoning":
      "Use `thinking` and `output_config.effort`.",
    n: "This surface has no equivalent: remove it.",
  }).filter(([name]) => !READ_HERE.has(name)),
  ...FAMILIES.flatMap(({ names, ...refused }) =>
    names.split(/\s+/).map((name): [string, Omit<Family, "names">] => [name, refused]),
  ),
]);

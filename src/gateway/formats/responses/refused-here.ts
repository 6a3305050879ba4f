// Top-level fields that the Responses surface refuses by name (surfaces.md §3), each with what to do instead. A field that is
// neither here nor read is passed on to upstreams of this shape, and reported as ignored elsewhere.
import type { RefusalCode } from "../../../domain/refusals.ts";
import type { RefusedField } from "../chat-completions/refused-fields.ts";
import { refusedOfChat } from "../refused-of-chat.ts";

const STORED =
  "refers to something stored, but nothing is stored here. Send the whole conversation as `input` items.";

const row = (code: RefusalCode, text: string, names: string): [string, RefusedField][] =>
  names.split(/\s+/).map((name) => {
    const defaults = DEFAULTS.get(name);
    return [name, defaults === undefined ? { code, text } : { code, text, defaults }];
  });

/** Values that ask for nothing. */
const DEFAULTS: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ["context_management", [[]]],
  ["access_programs", [[]]],
  ["mcp_servers", [[]]],
  ["modalities", [["text"]]],
  ["speed", ["standard"]],
  ["generate", [true]],
]);

export const REFUSED_HERE: ReadonlyMap<string, RefusedField> = new Map([
  ...refusedOfChat({
    messages: "Send `input` here.",
    "max_tokens max_completion_tokens": "Use `max_output_tokens`.",
    response_format: "Use `text.format`.",
    "reasoning_effort thinking enable_thinking thinking_budget thinking_token_budget include_reasoning":
      "Use `reasoning.effort`.",
    verbosity: "Use `text.verbosity`.",
    logprobs: 'Send `include: ["message.output_text.logprobs"]`.',
    "n stop": "This surface has no equivalent: remove it.",
  }),
  ...row("unsupported_parameter", STORED, "previous_response_id conversation prompt"),
  ...row(
    "unsupported_parameter",
    "has costs or effects of its own that no published rate covers. Remove it.",
    `background_options moderation context_management access_programs image speed inference_geo container mcp_servers modalities audio
      search_parameters transforms preset`,
  ),
  ...row(
    "unsupported_parameter",
    "must be true: every call has an answer here, which is paid for.",
    "generate",
  ),
  ...row("unknown_parameter", "is not a parameter here. Remove it.", "__proto__"),
]);

// Top-level fields that the Responses surface refuses by name (surfaces.md §3), each with what to do instead. What is neither here nor
// read goes through where the upstream speaks this shape, and is named as ignored elsewhere.
import type { RefusalCode } from "../../../domain/refusals.ts";
import { REFUSED_FIELDS, type RefusedField } from "../chat-completions/refused-fields.ts";

const STORED =
  "refers to what a provider stored; nothing is stored here. Send the whole conversation as `input` items.";

const row = (code: RefusalCode, text: string, names: string): [string, RefusedField][] =>
  names.split(/\s+/).map((name) => [name, { code, text }]);

const ofChat = (instead: string, names: string): [string, RefusedField][] =>
  row("unknown_parameter", `is a field of chat completions. ${instead}`, names);

export const REFUSED_HERE: ReadonlyMap<string, RefusedField> = new Map([
  ...REFUSED_FIELDS,
  ...row("unsupported_parameter", STORED, "previous_response_id conversation prompt"),
  ...row(
    "unsupported_parameter",
    "has costs or effects of its own that no published rate covers. Remove it.",
    `moderation context_management access_programs image speed inference_geo container mcp_servers modalities audio
      search_parameters transforms preset`,
  ),
  ...row("unknown_parameter", "is not a parameter here. Remove it.", "__proto__"),
  ...ofChat("Send `input` here.", "messages"),
  ...ofChat("Use `max_output_tokens`.", "max_tokens max_completion_tokens"),
  ...ofChat("Use `text.format`.", "response_format"),
  ...ofChat("Use `reasoning.effort`.", "reasoning_effort"),
  ...ofChat("Use `text.verbosity`.", "verbosity"),
  ...ofChat('Send `include: ["message.output_text.logprobs"]`.', "logprobs"),
  ...ofChat("This surface has no word for it: remove it.", "n stop"),
]);

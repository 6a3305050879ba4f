// Top-level fields that are refused by name (wire.md §1.1 and §1.3), each with the code of its family and what to do instead.
// `null`, or a default spelled out, counts as absent here too. Every other name that is not in `chat-fields.ts` is refused as
// unknown.
import { isDeepStrictEqual } from "node:util";
import { isPresent } from "../../../domain/read-value.ts";
import type { RefusalCode } from "../../../domain/refusals.ts";

export interface RefusedField {
  code: RefusalCode;
  /** The rest of the message, after the field's name. */
  text: string;
  /** Values that mean the same as absence: clients spell defaults out. */
  defaults?: readonly unknown[];
}

/** For a refused field: `null`, or a default spelled out, counts as absent. */
export const saysNothing = (value: unknown, { defaults = [] }: Pick<RefusedField, "defaults">): boolean =>
  !isPresent(value) || defaults.some((one) => isDeepStrictEqual(one, value));

interface Family extends RefusedField {
  names: string;
}

const FAMILIES: Family[] = [
  {
    code: "raw_token_ids_not_allowed",
    text: "works on token ids, which are not accepted. Send text, and `stop` as strings.",
    names: `prompt_token_ids input_ids token_ids stop_token_ids allowed_token_ids logprob_token_ids bad_words
      bad_words_ids return_token_ids return_tokens_as_token_ids prompt_logprobs`,
  },
  {
    code: "runtime_adapter_not_allowed",
    text: "would change the serving engine, which callers cannot do. Remove it; `model` chooses what serves your request.",
    names: `lora lora_path lora_request adapter adapter_id adapters extra_body custom_logit_processor
      logits_processors session_params bootstrap_host bootstrap_port bootstrap_room routed_dp_rank chat_template
      chat_template_kwargs mm_processor_kwargs media_io_kwargs structured_outputs vllm_xargs kv_transfer_params
      ec_transfer_params cache_salt priority request_id truncate_prompt_tokens echo add_generation_prompt
      continue_final_message`,
  },
  {
    code: "unsupported_parameter",
    text: "is deprecated. Use `tools` instead.",
    names: "functions",
    defaults: [[]],
  },
  {
    code: "unsupported_parameter",
    text: "is deprecated. Use `tool_choice` instead.",
    names: "function_call",
    defaults: ["none"],
  },
  {
    code: "unsupported_parameter",
    text: "has costs of its own that no published rate covers. Remove it.",
    names: "audio prediction web_search_options moderation",
  },
  {
    code: "unknown_parameter",
    text: "is not a parameter here. Remove it; the model and its published release decide routing and price.",
    names: "provider models route base_url api_key gateway cost plugins",
  },
  {
    code: "unknown_parameter",
    text: "is not a parameter here. Remove it.",
    names: "best_of",
    defaults: [1],
  },
  {
    code: "unknown_parameter",
    text: "is not a parameter here. Remove it.",
    names: "use_beam_search ignore_eos",
    defaults: [false],
  },
  {
    code: "unknown_parameter",
    text: "is not a parameter here. Remove it.",
    names: "min_tokens",
    defaults: [0],
  },
  {
    code: "unknown_parameter",
    text: "is not a parameter here. Remove it.",
    names: "top_k",
    defaults: [0, -1],
  },
  {
    code: "unknown_parameter",
    text: "is not a parameter here. Send the text as `messages`.",
    names: "prompt",
  },
];

export const REFUSED_FIELDS: ReadonlyMap<string, RefusedField> = new Map(
  FAMILIES.flatMap(({ names, ...refused }) =>
    names.split(/\s+/).map((name): [string, RefusedField] => [name, refused]),
  ),
);

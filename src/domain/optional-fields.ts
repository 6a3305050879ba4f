// What a request may hold that not every upstream knows: each provider says which of these it knows (wire.md §8.5).

/** Optional fields of the request, by their wire names: the ones that upstreams of this shape do not all know. */
export const OPTIONAL_FIELDS = [
  "top_p",
  "frequency_penalty",
  "presence_penalty",
  "seed",
  "verbosity",
  "parallel_tool_calls",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "stream_options",
  "n",
  "logprobs",
  "logit_bias",
  "response_format",
] as const;
export type OptionalField = (typeof OPTIONAL_FIELDS)[number];

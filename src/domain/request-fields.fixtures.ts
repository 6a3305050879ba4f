// A sample of each plain field of a request, written from wire.md §1.1 and not from the table: how it is held, which values are
// accepted unchanged, which equal the default, which are refused, and what it needs. The tests of every module that a field passes
// use these, and a row of the table without one does not compile.
import type { Capabilities } from "./capabilities.ts";
import type { ChatRequest } from "./chat-request.ts";
import type { JsonObject, Range } from "./read-value.ts";

type Held = "forwarded" | "identifiers" | "applied";
type PlainField = { [H in Held]: keyof ChatRequest[H] }[Held];

export interface FieldSample {
  held: Held;
  given: unknown;
  /** Documented defaults: the same as leaving the field out. */
  silent: readonly unknown[];
  refused: readonly (readonly [value: unknown, verdict: string])[];
  /** What has to accompany it in the body. */
  beside?: JsonObject;
  /** What a release has to offer, and the code if it does not. */
  needs?: { offered: Partial<Capabilities>; code: string };
  /** Not text for a model: not in the exact count of a prompt. */
  setting?: true;
  /** Not in `supported_parameters`. */
  unlisted?: true;
}

const decimal = (name: string, given: number, { min, max }: Range, silent: number[]): FieldSample => ({
  held: "forwarded",
  given,
  silent,
  refused: [
    [min - 0.1, `decimal_below_min_value ${name}`],
    [max + 0.1, `decimal_above_max_value ${name}`],
    [String(given), `invalid_request ${name}`],
    [[], `invalid_request ${name}`],
  ],
});

const identifier = (name: string): FieldSample => ({
  held: "identifiers",
  given: "u".repeat(512),
  silent: [],
  setting: true,
  refused: [
    [7, `invalid_request ${name}`],
    [{}, `invalid_request ${name}`],
    ["u".repeat(513), `string_above_max_length ${name}`],
  ],
});

const SAMPLES: { [N in PlainField]: FieldSample } = {
  top_p: decimal("top_p", 0.5, { min: 0, max: 1 }, [1]),
  frequency_penalty: decimal("frequency_penalty", -2, { min: -2, max: 2 }, [0, -0]),
  presence_penalty: decimal("presence_penalty", 2, { min: -2, max: 2 }, [0, -0]),
  seed: {
    held: "forwarded",
    given: -7,
    silent: [],
    refused: [
      [1.5, "invalid_request seed"],
      ["1", "invalid_request seed"],
    ],
  },
  verbosity: {
    held: "forwarded",
    given: "low",
    silent: ["medium"],
    setting: true,
    refused: [
      ["loud", "unsupported_value verbosity"],
      [1, "invalid_request verbosity"],
    ],
  },
  parallel_tool_calls: {
    held: "forwarded",
    given: false,
    silent: [true],
    refused: [["yes", "invalid_request parallel_tool_calls"]],
    beside: { tools: [{ type: "function", function: { name: "weather" } }] },
  },
  user: identifier("user"),
  safety_identifier: { ...identifier("safety_identifier"), unlisted: true },
  prompt_cache_key: { ...identifier("prompt_cache_key"), unlisted: true },
  logprobs: {
    held: "applied",
    given: true,
    silent: [false],
    refused: [[5, "invalid_request logprobs"]],
    needs: { offered: { logprobs: true }, code: "unsupported_parameter" },
  },
  top_logprobs: {
    held: "applied",
    given: 20,
    silent: [],
    refused: [
      [21, "integer_above_max_value top_logprobs"],
      [-1, "integer_below_min_value top_logprobs"],
      [1.5, "invalid_request top_logprobs"],
    ],
    beside: { logprobs: true },
  },
  logit_bias: {
    held: "applied",
    given: { "50256": -100 },
    silent: [{}],
    refused: [
      [[1], "invalid_request logit_bias"],
      [{ hello: 1 }, "invalid_request logit_bias"],
      [{ "50256": -101 }, "invalid_request logit_bias.50256"],
      [Object.fromEntries(Array.from({ length: 1025 }, (_, i) => [i, 1])), "invalid_request logit_bias"],
    ],
    needs: { offered: { logit_bias: true }, code: "raw_token_ids_not_allowed" },
    unlisted: true,
  },
};

export const FIELD_SAMPLES = Object.entries(SAMPLES) as [PlainField, FieldSample][];

// `providers[].dialect`: a preset, overridden point by point where this provider differs (providers.md §2).
import { z } from "zod";
import { OPTIONAL_FIELDS } from "../../domain/request-fields.ts";
import {
  type Dialect,
  DIALECT_NAMES,
  DIALECTS,
  OUTPUT_MAXIMUMS,
  THINKING_WORDS,
  THOUGHTS,
} from "./dialects.ts";

const oneOf = (names: readonly string[]): string => `must be one of ${names.join(", ")}`;

const POINTS = {
  output_maximum: z
    .enum(OUTPUT_MAXIMUMS, oneOf(OUTPUT_MAXIMUMS))
    .optional()
    .describe(
      "The provider's name for the maximum of output tokens. A name that it does not know leaves its output unlimited.",
    ),
  developer_role: z
    .boolean()
    .optional()
    .describe("Whether the provider accepts messages with the role developer; false sends them as system."),
  files: z
    .boolean()
    .optional()
    .describe("Whether the provider reads PDFs in file parts; false refuses requests that contain one."),
  text_parts: z
    .boolean()
    .optional()
    .describe(
      "Whether the provider accepts a message's content as a list of texts; false sends such a list as one text.",
    ),
  thinking: z
    .enum(THINKING_WORDS, oneOf(THINKING_WORDS))
    .optional()
    .describe(
      "How to request thinking: effort sends reasoning_effort, switch sends thinking {type: enabled} or disabled, switch_and_effort sends both, and fixed sends nothing because the model always thinks.",
    ),
  thoughts: z
    .enum(THOUGHTS, oneOf(THOUGHTS))
    .optional()
    .describe(
      "On which of the model's turns to send its reasoning_content back while it thinks: never, on calls, or always; with always, a turn that lost it gets a blank.",
    ),
  strict_turns: z
    .boolean()
    .optional()
    .describe(
      "Whether the provider refuses a user message after a tool message, a final assistant message and other vendors' call ids, as Mistral does; true rewrites them.",
    ),
  reasoning_details: z
    .boolean()
    .optional()
    .describe(
      "Whether the provider returns thoughts as reasoning_details that have to be sent back, as OpenRouter does. Calls of a thinking model are then passed on only when complete.",
    ),
  fields: z
    .array(z.enum(OPTIONAL_FIELDS, oneOf(OPTIONAL_FIELDS)))
    .optional()
    .describe("All optional fields that the provider knows. Other optional fields are never sent to it."),
  responses: z
    .boolean()
    .optional()
    .describe(
      "Whether the provider serves the Responses API at /responses, so that requests to POST /v1/responses are passed on as written. OpenAI and Azure do at their own addresses.",
    ),
};

const points = z.strictObject(POINTS);

const described = z.strictObject({
  preset: z
    .enum(DIALECT_NAMES, oneOf(DIALECT_NAMES))
    .default("openai")
    .describe("The vendor whose dialect the provider uses; the other settings override parts of it."),
  ...POINTS,
});

const changed = (usual: Dialect, told: z.output<typeof points>): Dialect => ({
  outputMaximum: told.output_maximum ?? usual.outputMaximum,
  developerRole: told.developer_role ?? usual.developerRole,
  files: told.files ?? usual.files,
  textParts: told.text_parts ?? usual.textParts,
  thinking: told.thinking ?? usual.thinking,
  thoughts: told.thoughts ?? usual.thoughts,
  strictTurns: told.strict_turns ?? usual.strictTurns,
  reasoningDetails: told.reasoning_details ?? usual.reasoningDetails,
  fields: told.fields ?? usual.fields,
  ...(told.responses !== undefined && { responses: told.responses }),
  // What the operator says about thinking is said of all models of this provider.
  ...(usual.models !== undefined &&
    told.thinking === undefined &&
    told.thoughts === undefined && { models: usual.models }),
});

/** The setting for a provider whose vendor is known only by the preset. */
export const anyDialect = described
  .prefault({})
  .describe(
    "The provider's names for fields and the optional fields that it knows: from a preset, or set one by one.",
  )
  .transform(({ preset, ...told }) => changed(DIALECTS[preset], told));

/** The setting for a vendor whose dialect is known. */
export const dialectOf = (usual: Dialect) =>
  points
    .prefault({})
    .describe("Where this provider differs from its vendor's usual dialect.")
    .transform((told) => changed(usual, told));

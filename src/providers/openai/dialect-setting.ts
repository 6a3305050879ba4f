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
      "What it calls the maximum of output tokens. A name that it does not know leaves its output unlimited.",
    ),
  developer_role: z
    .boolean()
    .optional()
    .describe("Whether it knows messages of the role developer; false sends them as system."),
  files: z
    .boolean()
    .optional()
    .describe("Whether it reads PDFs in file parts; false refuses requests that have one."),
  text_parts: z
    .boolean()
    .optional()
    .describe(
      "Whether it takes the content of a message as a list of texts; false sends such a list as one text.",
    ),
  thinking: z
    .enum(THINKING_WORDS, oneOf(THINKING_WORDS))
    .optional()
    .describe(
      "How it is told to think: effort sends reasoning_effort, switch sends thinking {type: enabled} or disabled, switch_and_effort both.",
    ),
  thoughts: z
    .enum(THOUGHTS, oneOf(THOUGHTS))
    .optional()
    .describe(
      "On which of the model's turns its reasoning_content goes back while it thinks: never, on calls, or always; then a turn that lost it gets a blank.",
    ),
  strict_turns: z
    .boolean()
    .optional()
    .describe(
      "Whether it refuses a user's message behind a tool's, a last message of the assistant's and ids of calls of other vendors, as Mistral does: true puts them right.",
    ),
  reasoning_details: z
    .boolean()
    .optional()
    .describe(
      "Whether it tells thoughts as reasoning_details that have to come back, as OpenRouter does. Calls of a thinking model are then handed over when they are whole.",
    ),
  fields: z
    .array(z.enum(OPTIONAL_FIELDS, oneOf(OPTIONAL_FIELDS)))
    .optional()
    .describe("All optional fields that it knows. What is not among them is never sent to it."),
  responses: z
    .boolean()
    .optional()
    .describe(
      "Whether it speaks the Responses shape at /responses, so that requests of POST /v1/responses reach it as they are written. OpenAI and Azure do at their own addresses.",
    ),
};

const points = z.strictObject(POINTS);

const described = z.strictObject({
  preset: z
    .enum(DIALECT_NAMES, oneOf(DIALECT_NAMES))
    .default("openai")
    .describe("A vendor whose dialect it speaks; the settings beside it override single points."),
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
});

/** The setting for a provider whose vendor only the preset tells. */
export const anyDialect = described
  .prefault({})
  .describe(
    "What the provider calls things and which optional fields it knows. Of a preset, or told one by one.",
  )
  .transform(({ preset, ...told }) => changed(DIALECTS[preset], told));

/** The setting for a vendor whose dialect is known. */
export const dialectOf = (usual: Dialect) =>
  points
    .prefault({})
    .describe("Single points in which this provider differs from its vendor's usual dialect.")
    .transform((told) => changed(usual, told));

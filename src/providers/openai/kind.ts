// `kind: openai`: every upstream that speaks the chat-completions shape. Its dialect is a preset, told point by point where
// it differs (providers.md §2).
import { z } from "zod";
import { OPTIONAL_FIELDS } from "../../domain/request-fields.ts";
import { httpProvider } from "../http/http-provider.ts";
import { apiKey, providerKind } from "../kind.ts";
import { openAiCodec } from "./codec.ts";
import { type Dialect, DIALECT_NAMES, DIALECTS, OUTPUT_MAXIMUMS } from "./dialects.ts";

const oneOf = (names: readonly string[]): string => `must be one of ${names.join(", ")}`;

const dialect = z.strictObject({
  preset: z
    .enum(DIALECT_NAMES, oneOf(DIALECT_NAMES))
    .default("openai")
    .describe("A vendor whose dialect it speaks; the settings beside it override single points."),
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
  fields: z
    .array(z.enum(OPTIONAL_FIELDS, oneOf(OPTIONAL_FIELDS)))
    .optional()
    .describe("All optional fields that it knows. What is not among them is never sent to it."),
});

function toDialect({ preset, ...told }: z.output<typeof dialect>): Dialect {
  const usual: Dialect = DIALECTS[preset];
  return {
    outputMaximum: told.output_maximum ?? usual.outputMaximum,
    developerRole: told.developer_role ?? usual.developerRole,
    fields: told.fields ?? usual.fields,
  };
}

export const openai = providerKind({
  name: "openai",
  description: "The chat-completions shape, as OpenAI and most vendors speak it.",
  settings: {
    api_key: apiKey,
    dialect: dialect
      .prefault({})
      .describe(
        "What the provider calls things and which optional fields it knows. Of a preset, or told one by one.",
      )
      .transform(toDialect),
  },
  probePath: "/models",
  credential: { setting: "api_key", needed: true, given: ({ api_key }) => api_key !== undefined },
  shown: ({ dialect }) => ({ dialect }),
  create: (upstream, { api_key, dialect }) =>
    httpProvider(upstream, openAiCodec({ family: upstream.name, apiKey: api_key ?? null, dialect })),
});

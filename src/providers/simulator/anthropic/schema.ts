// The body of a call in the Messages shape, as strict as the vendor: unknown fields are rejected.
import { z } from "zod";

const mark = {
  cache_control: z
    .strictObject({
      type: z.literal("ephemeral"),
      ttl: z.enum(["5m", "1h"]).optional(),
      scope: z.enum(["organization", "global"]).optional(),
    })
    .nullish(),
};
const text = z.strictObject({
  ...mark,
  type: z.literal("text"),
  text: z
    .string()
    .refine((words) => words.trim() !== "", "text content blocks must contain non-whitespace text"),
  citations: z.array(z.looseObject({ encrypted_index: z.string().min(1).optional() })).nullish(),
});
const image = z.strictObject({
  ...mark,
  type: z.literal("image"),
  source: z.discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("base64"),
      media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
      data: z.string().min(1),
    }),
    z.strictObject({ type: z.literal("url"), url: z.string().regex(/^https?:/) }),
  ]),
});
const about = { title: z.string().min(1).max(500).nullish(), context: z.string().nullish() };
const quoted = { citations: z.strictObject({ enabled: z.boolean() }).nullish() };
const document = z.strictObject({
  ...mark,
  ...about,
  ...quoted,
  type: z.literal("document"),
  source: z.discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("base64"),
      media_type: z.literal("application/pdf"),
      data: z.base64().min(1),
    }),
    z.strictObject({ type: z.literal("text"), media_type: z.literal("text/plain"), data: z.string().min(1) }),
    z.strictObject({ type: z.literal("content"), content: z.array(z.union([text, image])) }),
  ]),
});
const searchResult = z.strictObject({
  ...mark,
  ...quoted,
  type: z.literal("search_result"),
  source: z.string(),
  title: z.string(),
  content: z.array(text),
});
const toolReference = z.strictObject({ ...mark, type: z.literal("tool_reference"), tool_name: z.string() });
const PLAIN = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
/** Converts a text to a block. */
const texts = (words: unknown): unknown =>
  typeof words === "string" ? [{ type: "text", text: words }] : words;
const block = z.discriminatedUnion("type", [
  text,
  image,
  document,
  searchResult,
  z.strictObject({
    ...mark,
    type: z.literal("tool_use"),
    id: PLAIN,
    name: PLAIN,
    input: z.record(z.string(), z.unknown()),
  }),
  z.strictObject({
    ...mark,
    type: z.literal("tool_result"),
    tool_use_id: PLAIN,
    content: z
      .preprocess(
        texts,
        z.array(z.discriminatedUnion("type", [text, image, document, searchResult, toolReference])),
      )
      .optional(),
    is_error: z.boolean().optional(),
  }),
  z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string().min(1) }),
  z.strictObject({ type: z.literal("redacted_thinking"), data: z.string().min(1) }),
  z.strictObject({
    ...mark,
    type: z.enum(["tool_addition", "tool_removal"]),
    tool: z.strictObject({ type: z.literal("tool_reference"), tool_name: PLAIN }),
  }),
]);
const message = z.strictObject({
  role: z.enum(["user", "assistant", "system"]),
  clear_at: z.enum(["next_user_message", "never"]).optional(),
  content: z.preprocess(texts, z.array(block).min(1)),
});
const display = z.enum(["summarized", "omitted", "updates"]).optional();
const thinks = {
  display,
  block_binding: z.strictObject({ prefix_mismatch_behavior: z.enum(["error", "drop_block"]) }).optional(),
};
const single = { disable_parallel_tool_use: z.boolean().optional() };

export const messagesSchema = z.strictObject({
  ...mark,
  model: z.string().min(1),
  max_tokens: z.number().int().positive(),
  messages: z.array(message).min(1),
  system: z.preprocess(texts, z.array(text)).optional(),
  tools: z
    .array(
      z.strictObject({
        ...mark,
        type: z.literal("custom").optional(),
        name: PLAIN,
        description: z.string().optional(),
        input_schema: z.looseObject({ type: z.literal("object") }),
        strict: z.boolean().optional(),
        defer_loading: z.boolean().optional(),
        eager_input_streaming: z.boolean().nullish(),
        input_examples: z.array(z.looseObject({})).optional(),
        /** The others are programs of the vendor's, which are not simulated. */
        allowed_callers: z.array(z.literal("direct")).optional(),
      }),
    )
    .optional(),
  tool_choice: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("auto"), ...single }),
      z.strictObject({ type: z.literal("any"), ...single }),
      z.strictObject({ type: z.literal("tool"), name: PLAIN, ...single }),
      z.strictObject({ type: z.literal("none") }),
    ])
    .optional(),
  thinking: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("enabled"), budget_tokens: z.number().int().min(1024), ...thinks }),
      z.strictObject({ type: z.literal("adaptive"), ...thinks }),
      z.strictObject({ type: z.literal("disabled") }),
      z.strictObject({ type: z.literal("between_tools") }),
    ])
    .optional(),
  output_config: z
    .strictObject({
      effort: z.enum(["low", "medium", "high", "xhigh", "max"]).optional(),
      format: z.strictObject({ type: z.literal("json_schema"), schema: z.looseObject({}) }).optional(),
      task_budget: z
        .strictObject({ type: z.literal("tokens"), total: z.number().int().positive() })
        .optional(),
    })
    .optional(),
  context_management: z
    .strictObject({ edits: z.array(z.looseObject({ type: z.string() })).optional() })
    .optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.number().int().min(0).optional(),
  stop_sequences: z.array(z.string().regex(/\S/)).optional(),
  metadata: z.strictObject({ user_id: z.string().max(256).nullish() }).optional(),
  stream: z.boolean().optional(),
});

export type ClaudeCall = z.output<typeof messagesSchema>;

// A call in the Messages shape as the simulator takes it: what the vendor refuses is refused here, with its status.
import { z } from "zod";
import { FaceRefusal } from "../face.ts";
import { thoughtSeal } from "./seal.ts";

/** A text alone is one block of it. */
const orWords = <Blocks extends z.ZodType>(blocks: Blocks) =>
  z.preprocess((said) => (typeof said === "string" ? [{ type: "text", text: said }] : said), blocks);

const mark = {
  cache_control: z
    .strictObject({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).optional() })
    .optional(),
};
const text = z.strictObject({
  ...mark,
  type: z.literal("text"),
  text: z
    .string()
    .refine((words) => words.trim() !== "", "text content blocks must contain non-whitespace text"),
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
const document = z.strictObject({
  ...mark,
  type: z.literal("document"),
  source: z.strictObject({
    type: z.literal("base64"),
    media_type: z.literal("application/pdf"),
    data: z.base64().min(1),
  }),
  title: z.string().min(1).max(500).optional(),
});
const PLAIN = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const block = z.discriminatedUnion("type", [
  text,
  image,
  document,
  z.strictObject({
    type: z.literal("tool_use"),
    id: PLAIN,
    name: PLAIN,
    input: z.record(z.string(), z.unknown()),
  }),
  z.strictObject({
    type: z.literal("tool_result"),
    tool_use_id: PLAIN,
    content: orWords(z.array(z.discriminatedUnion("type", [text, image]))).optional(),
    is_error: z.boolean().optional(),
  }),
  z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string().min(1) }),
  z.strictObject({ type: z.literal("redacted_thinking"), data: z.string().min(1) }),
]);
const message = z.strictObject({
  role: z.enum(["user", "assistant"]),
  content: orWords(z.array(block).min(1)),
});
const single = { disable_parallel_tool_use: z.boolean().optional() };

const messagesSchema = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.number().int().positive(),
  messages: z.array(message).min(1),
  system: orWords(z.array(text)).optional(),
  tools: z
    .array(
      z.strictObject({
        ...mark,
        name: PLAIN,
        description: z.string().optional(),
        input_schema: z.looseObject({ type: z.literal("object") }),
        strict: z.boolean().optional(),
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
      z.strictObject({ type: z.literal("enabled"), budget_tokens: z.number().int().min(1024) }),
      z.strictObject({ type: z.literal("adaptive"), display: z.enum(["summarized", "omitted"]).optional() }),
      z.strictObject({ type: z.literal("disabled") }),
    ])
    .optional(),
  output_config: z
    .strictObject({
      effort: z.enum(["low", "medium", "high", "xhigh", "max"]).optional(),
      format: z.strictObject({ type: z.literal("json_schema"), schema: z.looseObject({}) }).optional(),
    })
    .optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  stop_sequences: z.array(z.string().regex(/\S/)).optional(),
  metadata: z.strictObject({ user_id: z.string().max(256) }).optional(),
  stream: z.boolean().optional(),
});

export type ClaudeCall = z.output<typeof messagesSchema>;
type Blocks = ClaudeCall["messages"][number]["content"];

/** Throws `FaceRefusal` for what the vendor would refuse. */
export function readClaudeCall(body: unknown): ClaudeCall {
  const read = messagesSchema.safeParse(body);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new FaceRefusal(`${issue?.path.join(".") || "body"}: ${issue?.message}`, { model: modelOf(body) });
  }
  const fault = faultOf(read.data) ?? markFault(read.data);
  if (fault !== null) throw new FaceRefusal(fault, { model: read.data.model });
  return read.data;
}

const modelOf = (body: unknown): string =>
  typeof body === "object" && body !== null && "model" in body ? String(body.model) : "";

/** The documents that the user sent, in base64. */
export const claudeDocuments = ({ messages }: ClaudeCall): string[] =>
  messages.flatMap(({ content }) => ofType(content, "document").map(({ source }) => source.data));

const faultOf = (call: ClaudeCall): string | null =>
  turnFault(call) ?? documentFault(call) ?? toolFault(call) ?? thinkingFault(call) ?? sealFault(call);

function markFault({ tools = [], system = [], messages }: ClaudeCall): string | null {
  const read = JSON.stringify([tools, system, messages.map(({ content }) => content)]);
  const marks = read.match(/"cache_control":\{[^}]*\}/g) ?? [];
  if (marks.length > 4) return "A maximum of 4 blocks with cache_control may be provided";
  const short = marks.findIndex((mark) => !mark.includes('"1h"'));
  return short !== -1 && marks.slice(short).some((mark) => mark.includes('"1h"'))
    ? "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
    : null;
}

function turnFault({ messages }: ClaudeCall): string | null {
  const odd = messages.findIndex(({ role }, at) => role !== (at % 2 === 0 ? "user" : "assistant"));
  if (odd !== -1) return `messages.${odd}: roles must alternate between "user" and "assistant"`;
  return messages.length % 2 === 0 ? "messages: the conversation must end with a user message" : null;
}

const ofType = <T extends Blocks[number]["type"]>(content: Blocks, type: T) =>
  content.filter((one): one is Extract<Blocks[number], { type: T }> => one.type === type);

const documentFault = ({ messages }: ClaudeCall): string | null =>
  messages.some(({ role, content }) => role === "assistant" && ofType(content, "document").length > 0)
    ? "messages: document blocks are the user's"
    : null;

function toolFault({ messages, tools }: ClaudeCall): string | null {
  let open: string[] = [];
  const used = new Set<string>();
  for (const [at, { role, content }] of messages.entries()) {
    const results = ofType(content, "tool_result").map(({ tool_use_id: id }) => id);
    const where = `messages.${at}`;
    if (content.slice(0, results.length).some(({ type }) => type !== "tool_result"))
      return `${where}: tool_result blocks must come first`;
    const missing = open.filter((id) => !results.includes(id));
    if (missing.length > 0) return `${where}: tool_use ids without tool_result: ${missing.join(", ")}`;
    const extra = results.filter((id, n) => !open.includes(id) || results.indexOf(id) !== n);
    if (extra.length > 0) return `${where}: unexpected tool_use_id in tool_result: ${extra.join(", ")}`;
    open = ofType(content, "tool_use").map(({ id }) => id);
    if (open.length > 0 && role === "user") return `${where}: tool_use blocks are the assistant's`;
    if (open.some((id, n) => used.has(id) || open.indexOf(id) !== n))
      return `${where}: tool_use ids must be unique`;
    for (const id of open) used.add(id);
  }
  return used.size > 0 && tools === undefined ? "tools: required where messages hold tool_use" : null;
}

function thinkingFault({ messages, max_tokens: ceiling, thinking, ...call }: ClaudeCall): string | null {
  if (thinking === undefined || thinking.type === "disabled") return null;
  if (call.temperature !== undefined && call.temperature !== 1)
    return "temperature: may only be set to 1 when thinking is enabled";
  if (call.top_p !== undefined && call.top_p < 0.95)
    return "top_p: must be at least 0.95 when thinking is enabled";
  if (thinking.type === "adaptive") return null;
  if (thinking.budget_tokens >= ceiling) return "max_tokens: must be greater than thinking.budget_tokens";
  const choice = call.tool_choice?.type;
  if (choice === "any" || choice === "tool")
    return "tool_choice: thinking may not be enabled when tool_choice forces tool use";
  const asked = messages.findLastIndex(
    ({ role, content }) => role === "user" && ofType(content, "tool_result").length === 0,
  );
  const round = messages.slice(asked + 1).find(({ content }) => ofType(content, "tool_use").length > 0);
  if (round === undefined || round.content[0]?.type.endsWith("thinking") === true) return null;
  return `messages.${messages.indexOf(round)}.content.0: expected thinking or redacted_thinking, but found ${round.content[0]?.type}`;
}

/** Of every turn, however old. */
function sealFault({ messages }: ClaudeCall): string | null {
  for (const [at, { role, content }] of messages.entries())
    for (const [n, one] of content.entries()) {
      if (!one.type.endsWith("thinking")) continue;
      const issued =
        one.type === "thinking" && role === "assistant" && one.signature === thoughtSeal(one.thinking);
      if (!issued) return `messages.${at}.content.${n}: Invalid \`signature\` in \`thinking\` block`;
    }
  return null;
}

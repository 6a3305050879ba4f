// A call in the Responses shape as the simulator accepts it: what the vendor rejects is rejected here, with its code.
import { z } from "zod";
import { FaceRefusal } from "../face.ts";
import { isReasoningSeal } from "./seal.ts";

const id = (prefix: string) => z.string().startsWith(`${prefix}_`).max(64).optional();
const status = z.enum(["in_progress", "completed", "incomplete"]).optional();
const inputText = z.strictObject({ type: z.literal("input_text"), text: z.string() });
const inputImage = z.strictObject({
  type: z.literal("input_image"),
  image_url: z.string().regex(/^(data:image\/|https?:)/),
  detail: z.enum(["auto", "low", "high", "original"]).optional(),
});
const inputFile = z.strictObject({
  type: z.literal("input_file"),
  filename: z.string().min(1),
  file_data: z.string().startsWith("data:application/pdf;base64,"),
});
const outputText = z.strictObject({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.looseObject({ type: z.string() })).optional(),
  logprobs: z.array(z.unknown()).optional(),
});
const refusal = z.strictObject({ type: z.literal("refusal"), refusal: z.string() });
const input = z.discriminatedUnion("type", [inputText, inputImage, inputFile]);

const message = z.strictObject({
  type: z.literal("message").default("message"),
  id: id("msg"),
  role: z.enum(["user", "assistant", "system", "developer"]),
  status,
  phase: z.enum(["commentary", "final_answer"]).nullable().optional(),
  content: z.union([
    z.string(),
    z.array(z.discriminatedUnion("type", [inputText, inputImage, inputFile, outputText, refusal])),
  ]),
});
const NAME = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/);
const called = {
  call_id: z.string().min(1).max(64),
  name: NAME,
  namespace: NAME.optional(),
  async: z.boolean().optional(),
  status,
};
const output = {
  call_id: z.string().min(1).max(64),
  output: z.union([z.string(), z.array(input)]),
  id: z.string().max(64).nullable().optional(),
  status,
};
const described = {
  name: NAME,
  description: z.string().nullable().optional(),
  strict: z.boolean().nullable().optional(),
  defer_loading: z.boolean().optional(),
  async: z.boolean().optional(),
};
const functionTool = z.strictObject({
  type: z.literal("function"),
  ...described,
  parameters: z.looseObject({}).nullable().optional(),
});
const customTool = z.strictObject({
  type: z.literal("custom"),
  ...described,
  format: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("text") }),
      z.strictObject({
        type: z.literal("grammar"),
        syntax: z.enum(["lark", "regex"]),
        definition: z.string(),
      }),
    ])
    .optional(),
});
const single = z.discriminatedUnion("type", [functionTool, customTool]);
const tool = z.union([
  single,
  z.strictObject({
    type: z.literal("namespace"),
    name: NAME,
    description: z.string(),
    tools: z.array(single).min(1),
  }),
  z.strictObject({
    type: z.literal("tool_search"),
    execution: z.enum(["server", "client"]).optional(),
    description: z.string().nullable().optional(),
    parameters: z.looseObject({}).nullable().optional(),
  }),
]);
const searched = {
  id: z.string().max(64).nullable().optional(),
  call_id: z.string().max(64).nullable().optional(),
  execution: z.enum(["server", "client"]).optional(),
  status,
};
const item = z.union([
  message,
  z.strictObject({ type: z.literal("function_call"), id: id("fc"), ...called, arguments: z.string() }),
  z.strictObject({ type: z.literal("custom_tool_call"), id: id("ctc"), ...called, input: z.string() }),
  z.strictObject({ type: z.literal("function_call_output"), ...output }),
  z.strictObject({ type: z.literal("custom_tool_call_output"), ...output }),
  z.strictObject({
    type: z.literal("reasoning"),
    id: id("rs"), // the AI SDK omits it
    summary: z.array(z.strictObject({ type: z.literal("summary_text"), text: z.string() })),
    content: z
      .array(z.strictObject({ type: z.literal("reasoning_text"), text: z.string() }))
      .nullable() // as codex sends it
      .optional(),
    encrypted_content: z.string().nullable().optional(),
    status,
  }),
  z.strictObject({
    type: z.literal("additional_tools"),
    id: id("at"),
    role: z.literal("developer"),
    tools: z.array(tool),
  }),
  z.strictObject({ type: z.literal("tool_search_call"), ...searched, arguments: z.unknown() }),
  z.strictObject({ type: z.literal("tool_search_output"), ...searched, tools: z.array(tool) }),
]);

const chosen = z.strictObject({
  type: z.enum(["function", "custom"]),
  name: NAME,
  namespace: NAME.optional(),
});

const schema = z.strictObject({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(item).min(1)]),
  instructions: z.string().optional(),
  max_output_tokens: z.number().int().min(16).optional(),
  tools: z.array(tool).max(128).optional(),
  tool_choice: z
    .union([
      z.enum(["none", "auto", "required"]),
      chosen,
      z.strictObject({
        type: z.literal("allowed_tools"),
        mode: z.enum(["auto", "required"]),
        tools: z.array(z.looseObject({ type: z.string() })),
      }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  text: z
    .strictObject({
      format: z
        .discriminatedUnion("type", [
          z.strictObject({ type: z.literal("text") }),
          z.strictObject({ type: z.literal("json_object") }),
          z.strictObject({
            type: z.literal("json_schema"),
            name: NAME,
            description: z.string().optional(),
            schema: z.looseObject({}),
            strict: z.boolean().nullable().optional(),
          }),
        ])
        .optional(),
      verbosity: z.enum(["low", "medium", "high"]).optional(),
    })
    .optional(),
  reasoning: z
    .strictObject({
      effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).nullable().optional(),
      summary: z.enum(["auto", "concise", "detailed"]).nullable().optional(),
      context: z.enum(["auto", "current_turn", "all_turns"]).nullable().optional(),
      mode: z.literal("standard").optional(),
    })
    .optional(),
  include: z.array(z.string().regex(/^[a-z_]+(\.[a-z_]+)+$/)).optional(),
  stream: z.boolean().optional(),
  stream_options: z.strictObject({ include_obfuscation: z.boolean().optional() }).optional(),
  store: z.literal(false),
  truncation: z.enum(["auto", "disabled"]).optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_logprobs: z.number().int().min(0).max(20).optional(),
  user: z.string().optional(),
  safety_identifier: z.string().max(64).optional(),
  prompt_cache_key: z.string().max(64).optional(),
});

export type ResponsesCall = z.output<typeof schema>;
export type ResponsesItem = Exclude<ResponsesCall["input"], string>[number];

/** Throws `FaceRefusal` for what the vendor would reject. */
export function readResponsesCall(body: unknown): ResponsesCall {
  const read = schema.safeParse(body);
  if (!read.success) {
    const [issue] = read.error.issues;
    const at = `'${issue?.path.join(".") || "body"}'`;
    throw new FaceRefusal(`Invalid ${at}: ${issue?.message}`, { model: modelOf(body) });
  }
  const { data } = read;
  const fault = typeof data.input === "string" ? null : (pairFault(data.input) ?? sealFault(data.input));
  if (fault !== null) throw new FaceRefusal(fault.message, { ...fault, model: data.model });
  return data;
}

interface Fault {
  message: string;
  status?: number;
  code?: string;
}

function pairFault(items: readonly ResponsesItem[]): Fault | null {
  const open = new Set<string>();
  const called = new Set<string>();
  for (const one of items) {
    if (one.type === "function_call" || one.type === "custom_tool_call") {
      called.add(one.call_id);
      if (one.async !== true) open.add(one.call_id);
    } else if (one.type === "function_call_output" || one.type === "custom_tool_call_output") {
      if (!called.has(one.call_id))
        return { message: `No tool call found for function call output with call_id ${one.call_id}.` };
      open.delete(one.call_id);
    }
  }
  const [first] = open;
  return first === undefined ? null : { message: `No tool output found for function call ${first}.` };
}

/** Nothing is stored, so a thought must come back sealed, by the model that sealed it. */
function sealFault(items: readonly ResponsesItem[]): Fault | null {
  for (const one of items) {
    if (one.type !== "reasoning") continue;
    const { encrypted_content: sealed } = one;
    if (typeof sealed !== "string" || sealed === "")
      return {
        message: `Item with id '${one.id ?? ""}' not found. Items are not persisted when \`store\` is set to false.`,
        status: 404,
      };
    if (!isReasoningSeal(sealed, one.id))
      return {
        message: "The encrypted content could not be verified.",
        code: "invalid_encrypted_content",
      };
  }
  return null;
}

const modelOf = (body: unknown): string =>
  typeof body === "object" && body !== null && "model" in body ? String(body.model) : "";

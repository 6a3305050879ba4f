// A call in the Messages shape as the simulator accepts it: what the vendor rejects is rejected here, with its
// status.
import type { z } from "zod";
import { FaceRefusal } from "../face.ts";
import { generationFault } from "./generations.ts";
import { type ClaudeCall, messagesSchema } from "./schema.ts";
import { thoughtSeal } from "./seal.ts";

type Blocks = ClaudeCall["messages"][number]["content"];

/** Throws `FaceRefusal` for what the vendor would reject. `betas` are the names in the header. */
export function readClaudeCall(body: unknown, betas: readonly string[] = []): ClaudeCall {
  const read = messagesSchema.safeParse(body);
  if (!read.success) {
    throw new FaceRefusal(saidOf(read.error.issues[0]), { model: modelOf(body) });
  }
  const fault =
    betaFault(read.data, betas) ??
    generationFault(read.data) ??
    faultOf(merged(read.data)) ??
    markFault(read.data);
  if (fault !== null) throw new FaceRefusal(fault, { model: read.data.model });
  return read.data;
}

/** In the vendor's words, which begin with the place. */
function saidOf(issue: z.core.$ZodIssue | undefined): string {
  const path = issue?.path ?? [];
  return issue?.code === "unrecognized_keys"
    ? `${[...path, issue.keys[0]].join(".")}: Extra inputs are not permitted`
    : `${path.join(".") || "body"}: ${issue?.message}`;
}

const modelOf = (body: unknown): string =>
  typeof body === "object" && body !== null && "model" in body ? String(body.model) : "";

interface FileBlock {
  source: { type: string; data: string };
}

/** True for a document whose bytes are included. */
export const isFile = (one: { type: string; source?: unknown }): boolean =>
  one.type === "document" && (one as unknown as FileBlock).source.type === "base64";

/** Returns the documents that the user or a tool sent, in base64. */
export const claudeDocuments = ({ messages }: ClaudeCall): string[] =>
  messages.flatMap(({ content }) =>
    content
      .flatMap((one): { type: string; source?: unknown }[] =>
        one.type === "tool_result" ? [...(one.content ?? [])] : [one],
      )
      .filter(isFile)
      .map((one) => (one as unknown as FileBlock).source.data),
  );

/** Fields that a header must enable. */
const BY_HEADER: readonly [field: string, beta: string, used: (call: ClaudeCall) => boolean][] = [
  ["context_management", "context-management-2025-06-27", (call) => call.context_management !== undefined],
  [
    "thinking.block_binding",
    "thinking-binding-controls-2026-08-01",
    ({ thinking }) => thinking !== undefined && "block_binding" in thinking,
  ],
  [
    "thinking.display",
    "thinking-display-updates-2026-08-18",
    ({ thinking }) => thinking !== undefined && "display" in thinking && thinking.display === "updates",
  ],
  [
    "output_config.task_budget",
    "task-budgets-2026-03-13",
    ({ output_config: output }) => output?.task_budget !== undefined,
  ],
  [
    "messages.clear_at",
    "mid-conversation-system-clear-at-2026-08-21",
    ({ messages }) => messages.some((message) => message.clear_at !== undefined),
  ],
  [
    "messages.content.tool",
    "mid-conversation-tool-changes-2026-07-01",
    ({ messages }) => messages.some(({ content }) => content.some(isToolChange)),
  ],
];

/** True for a block that says which tools are offered from here on. */
export const isToolChange = ({ type }: { type: string }): boolean =>
  type === "tool_addition" || type === "tool_removal";

function betaFault(call: ClaudeCall, betas: readonly string[]): string | null {
  const missing = BY_HEADER.find(([, beta, used]) => used(call) && !betas.includes(beta));
  return missing === undefined ? null : `${missing[0]}: Extra inputs are not permitted`;
}

/** Joins consecutive turns of one role; a system message is not a turn. */
function merged(call: ClaudeCall): ClaudeCall {
  const turns: ClaudeCall["messages"] = [];
  for (const { role, content } of call.messages) {
    const last = turns.at(-1);
    if (role === "system") continue;
    if (last?.role === role) for (const block of content) last.content.push(block);
    else turns.push({ role, content: [...content] });
  }
  return { ...call, messages: turns };
}

const faultOf = (call: ClaudeCall): string | null =>
  turnFault(call) ?? documentFault(call) ?? toolFault(call) ?? thinkingFault(call) ?? sealFault(call);

function markFault({ tools = [], system = [], messages, cache_control: whole }: ClaudeCall): string | null {
  const read = JSON.stringify([
    tools,
    system,
    messages.map(({ content }) => content),
    { cache_control: whole },
  ]);
  const marks = read.match(/"cache_control":\{[^}]*\}/g) ?? [];
  if (marks.length > 4) return "A maximum of 4 blocks with cache_control may be provided";
  const short = marks.findIndex((mark) => !mark.includes('"1h"'));
  return short !== -1 && marks.slice(short).some((mark) => mark.includes('"1h"'))
    ? "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
    : null;
}

function turnFault({ messages }: ClaudeCall): string | null {
  if (messages[0]?.role !== "user") return "messages: first message must use the user role";
  return messages.at(-1)?.role === "user" ? null : "messages: the conversation must end with a user message";
}

const ofType = <T extends Blocks[number]["type"]>(content: Blocks, type: T) =>
  content.filter((one): one is Extract<Blocks[number], { type: T }> => one.type === type);

const documentFault = ({ messages }: ClaudeCall): string | null =>
  messages.some(({ role, content }) => role === "assistant" && ofType(content, "document").length > 0)
    ? "messages: document blocks are the user's"
    : null;

function toolFault({ messages, tools }: ClaudeCall): string | null {
  let open = new Set<string>();
  const used = new Set<string>();
  for (const [at, { role, content }] of messages.entries()) {
    const results = ofType(content, "tool_result").map(({ tool_use_id: id }) => id);
    const answered = new Set(results);
    const where = `messages.${at}`;
    if (content.slice(0, results.length).some(({ type }) => type !== "tool_result"))
      return `${where}: tool_result blocks must come first`;
    const missing = [...open].filter((id) => !answered.has(id));
    if (missing.length > 0) return `${where}: tool_use ids without tool_result: ${missing.join(", ")}`;
    const extra = results.filter((id) => !open.delete(id)); // of another turn, or answered twice
    if (extra.length > 0) return `${where}: unexpected tool_use_id in tool_result: ${extra.join(", ")}`;
    const calls = ofType(content, "tool_use").map(({ id }) => id);
    open = new Set(calls);
    if (calls.length > 0 && role === "user") return `${where}: tool_use blocks are the assistant's`;
    if (open.size < calls.length || calls.some((id) => used.has(id)))
      return `${where}: tool_use ids must be unique`;
    for (const id of open) used.add(id);
  }
  return used.size > 0 && tools === undefined ? "tools: required where messages hold tool_use" : null;
}

type Thinking = NonNullable<ClaudeCall["thinking"]>;

/** True if the model does not think before it answers. */
export const isOff = (
  thinking: Thinking,
): thinking is Extract<Thinking, { type: "disabled" | "between_tools" }> =>
  thinking.type === "disabled" || thinking.type === "between_tools";

function thinkingFault({ messages, max_tokens: ceiling, thinking, ...call }: ClaudeCall): string | null {
  if (thinking === undefined || isOff(thinking)) return null;
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

/** Checks the thoughts of every turn, however old. */
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

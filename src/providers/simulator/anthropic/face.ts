// The simulator as the Anthropic Messages API, below `/anthropic`: as strict as the vendor, with the common bill.
import { randomBase62 } from "../../../lib/id.ts";
import type { SimulatedAnswer } from "../answer.ts";
import type { Asked } from "../asked.ts";
import type { Behaviour } from "../behaviour.ts";
import { documentTokens } from "../documents.ts";
import type { Face, Heard, Said, StreamWords } from "../face.ts";
import { completionTokensOf } from "../print.ts";
import { claudeBlocks, inputOfCall, openingOf, type SaidBlock, wordsIn } from "./blocks.ts";
import { betasOf, servesClaude, unwrapped } from "./envelope.ts";
import { claudeDocuments, isFile, isOff, isToolChange, readClaudeCall } from "./request.ts";
import type { ClaudeCall } from "./schema.ts";
import { thoughtSeal } from "./seal.ts";

export const anthropicMessages: Face = {
  serves: servesClaude,
  hear: (body, path, headers) =>
    heardClaude(readClaudeCall(unwrapped(body, path, headers), betasOf(headers))),
  refusal: ({ status, code, message }) => errorBody(code ?? TYPES[status] ?? "api_error", message),
  contentType: "text/event-stream; charset=utf-8",
};

const TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

const errorBody = (type: string, message: string): object => ({
  type: "error",
  error: { type, message },
  request_id: `req_sim${randomBase62(16)}`,
});

function heardClaude(call: ClaudeCall): Heard {
  const head = { id: `msg_sim${randomBase62(16)}`, type: "message", role: "assistant", model: call.model };
  const written = lifeOf(call);
  const failed = errorBody("api_error", "the simulated model failed");
  return {
    asked: askedOfClaude(call),
    failed,
    whole: (answer, behaviour) => ({
      ...head,
      content: claudeBlocks(answer).map(wholeBlock),
      ...stopOf(answer),
      ...(behaviour.no_usage !== true && { usage: usageOfClaude(answer, behaviour, written) }),
    }),
    stream: (answer, behaviour): StreamWords => ({
      events: events(head, answer, { behaviour, written }),
      end: eventText({ type: "message_stop" }),
      error: eventText(failed),
      late: eventText({
        type: "content_block_delta",
        index: 99,
        delta: { type: "text_delta", text: "late" },
      }),
    }),
  };
}

/** Converts the call to the form that the simulator's model reads. */
function askedOfClaude(call: ClaudeCall): Asked {
  const { thinking, output_config: output, tool_choice: choice } = call;
  const effort = thinking?.type === "enabled" ? "medium" : (output?.effort ?? "high");
  const system = (call.system ?? []).map(({ text }) => ({ role: "system", content: text }));
  return {
    model: call.model,
    messages: [...system, ...call.messages.flatMap(messagesOfTurn)],
    documentTokens: documentTokens(claudeDocuments(call), call),
    max_tokens: call.max_tokens,
    stream: call.stream === true,
    ...(thinking !== undefined && !isOff(thinking) && { reasoning_effort: effort }),
    ...(call.tools !== undefined && {
      tools: call.tools.map(({ input_schema: parameters, ...tool }) => ({
        function: { ...tool, parameters },
      })),
    }),
    ...(choice !== undefined && {
      tool_choice:
        choice.type === "tool"
          ? { function: { name: choice.name } }
          : choice.type === "any"
            ? "required"
            : choice.type,
      parallel_tool_calls: choice.type === "none" || choice.disable_parallel_tool_use !== true,
    }),
    ...(output?.format !== undefined && {
      response_format: { type: "json_schema", json_schema: { schema: output.format.schema } },
    }),
  };
}

function messagesOfTurn({ role, content }: ClaudeCall["messages"][number]): Asked["messages"] {
  const results = content.flatMap((block) =>
    block.type === "tool_result" ? [{ role: "tool", content: JSON.stringify(block.content ?? "") }] : [],
  );
  const rest = content.filter(
    (block) => block.type !== "tool_result" && !isFile(block) && !isToolChange(block),
  );
  const text = rest.map((block) => (block.type === "text" ? block.text : JSON.stringify(block))).join("\n");
  return rest.length === 0 ? results : [...results, { role, content: text }];
}

const STOPS = { stop: "end_turn", length: "max_tokens", tool_calls: "tool_use" } as const;

const stopOf = ({ choices: [choice] }: SimulatedAnswer): object => ({
  stop_reason: STOPS[choice?.finishReason ?? "stop"],
  stop_sequence: null,
});

type Life = "5m" | "1h" | null;

/** Returns the cache lifetime of what the caller marked; null = nothing is marked. */
function lifeOf(call: ClaudeCall): Life {
  const text = JSON.stringify(call);
  if (!text.includes('"cache_control":{')) return null;
  return text.includes('"ttl":"1h"') ? "1h" : "5m";
}

/** Half of a prompt with a mark is written to the cache. */
function usageOfClaude(
  answer: SimulatedAnswer,
  { usage, usage_as_is: exactly }: Behaviour,
  written: Life,
): unknown {
  if (exactly !== undefined) return exactly;
  const prompt = usage?.prompt_tokens ?? answer.promptTokens;
  const kept = written === null ? 0 : Math.floor(prompt / 2);
  return {
    input_tokens: prompt - kept,
    cache_creation_input_tokens: kept,
    cache_creation: {
      ephemeral_5m_input_tokens: written === "5m" ? kept : 0,
      ephemeral_1h_input_tokens: written === "1h" ? kept : 0,
    },
    cache_read_input_tokens: 0,
    output_tokens: usage?.completion_tokens ?? completionTokensOf(answer),
    service_tier: "standard",
  };
}

function wholeBlock(block: SaidBlock): object {
  const words = wordsIn(block.pieces);
  if (block.kind === "text") return { type: "text", text: words };
  if (block.kind === "thinking") return { type: "thinking", thinking: words, signature: thoughtSeal(words) };
  return { ...block.call, type: "tool_use", input: inputOfCall(words) };
}

const eventText = (event: object): string =>
  `event: ${"type" in event ? String(event.type) : "message"}\ndata: ${JSON.stringify(event)}\n\n`;

function* events(
  head: object,
  answer: SimulatedAnswer,
  { behaviour, written }: { behaviour: Behaviour; written: Life },
): Generator<Said> {
  const plain = (event: object): Said => ({ bytes: eventText(event), tokens: 0 });
  const told = usageOfClaude(answer, behaviour, written);
  const begun = { input_tokens: answer.promptTokens, output_tokens: 1 }; // a placeholder, like the vendor's
  const silent = behaviour.no_usage === true || behaviour.usage_as_is !== undefined;
  const early = behaviour.usage_first === true ? { usage: told } : silent ? {} : { usage: begun };
  const message = { ...head, content: [], stop_reason: null, stop_sequence: null, ...early };
  yield plain({ type: "message_start", message });
  yield plain({ type: "ping" });
  for (const [index, block] of claudeBlocks(answer).entries()) {
    yield plain({ type: "content_block_start", index, content_block: openingOf(block) });
    const perEvent = behaviour.tokens_per_chunk ?? 1;
    for (let at = 0; at < block.pieces.length; at += perEvent) {
      const group = block.pieces.slice(at, at + perEvent);
      yield {
        bytes: eventText({ type: "content_block_delta", index, delta: deltaOf(block, wordsIn(group)) }),
        tokens: group.reduce((total, { tokens }) => total + tokens, 0),
      };
    }
    if (block.kind === "thinking") {
      const delta = { type: "signature_delta", signature: thoughtSeal(wordsIn(block.pieces)) };
      yield plain({ type: "content_block_delta", index, delta });
    }
    yield plain({ type: "content_block_stop", index });
  }
  if (behaviour.no_finish === true) return;
  yield plain({
    type: "message_delta",
    delta: stopOf(answer),
    ...(behaviour.no_usage !== true && { usage: told }),
  });
}

function deltaOf({ kind }: SaidBlock, words: string): object {
  if (kind === "text") return { type: "text_delta", text: words };
  if (kind === "thinking") return { type: "thinking_delta", thinking: words };
  return { type: "input_json_delta", partial_json: words };
}

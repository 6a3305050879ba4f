// The simulator as the Responses API, beside chat completions: as strict as the vendor, with the common bill.
import { randomBase62 } from "../../../lib/id.ts";
import type { SimulatedAnswer } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import type { Face, Heard, Said, StreamWords } from "../face.ts";
import { simulatedUsage } from "../print.ts";
import { askedOfResponses } from "./heard.ts";
import { type SimulatedItem, simulatedItems } from "./items.ts";
import { readResponsesCall, type ResponsesCall } from "./request.ts";

const FAILED = { code: "server_error", message: "the simulated model failed", param: null };

export const openaiResponses: Face = {
  serves: (path) => path === "/v1/responses",
  hear: (body) => heardResponses(readResponsesCall(body)),
  refusal: ({ code, message }) => ({ error: { message, type: "invalid_request_error", param: null, code } }),
  contentType: "text/event-stream; charset=utf-8",
};

function heardResponses(call: ResponsesCall): Heard {
  const id = `resp_sim${randomBase62(24)}`;
  const head = { id, object: "response", created_at: Math.floor(Date.now() / 1000) };
  return {
    asked: askedOfResponses(call),
    failed: { ...head, status: "failed", error: FAILED, output: [], model: call.model },
    whole: (answer, behaviour) =>
      responseOf(head, call, {
        ...endOf(answer),
        output: simulatedItems(answer, call).map(({ item }) => item),
        usage: usageOf(answer, behaviour),
        ...tierOf(behaviour),
      }),
    stream: (answer, behaviour) => streamOf(head, call, { answer, behaviour }),
  };
}

const tierOf = ({ service_tier }: Behaviour): object => ({ service_tier: service_tier ?? "default" });

function responseOf(head: object, call: ResponsesCall, told: object): object {
  return {
    ...head,
    background: false,
    error: null,
    incomplete_details: null,
    access_programs: null,
    instructions: call.instructions ?? null,
    max_output_tokens: call.max_output_tokens ?? null,
    metadata: {},
    model: call.model,
    parallel_tool_calls: call.parallel_tool_calls ?? true,
    previous_response_id: null,
    prompt_cache_key: call.prompt_cache_key ?? null,
    reasoning: { effort: call.reasoning?.effort ?? null, summary: call.reasoning?.summary ?? null },
    safety_identifier: call.safety_identifier ?? null,
    store: false,
    temperature: call.temperature ?? 1,
    text: { format: call.text?.format ?? { type: "text" }, verbosity: call.text?.verbosity ?? "medium" },
    tool_choice: call.tool_choice ?? "auto",
    tools: call.tools ?? [],
    top_logprobs: call.top_logprobs ?? 0,
    top_p: call.top_p ?? 1,
    truncation: call.truncation ?? "disabled",
    ...(call.user !== undefined && { user: call.user }),
    ...told,
  };
}

function endOf({ choices: [choice] }: SimulatedAnswer): {
  status: string;
  incomplete_details: object | null;
} {
  return choice?.finishReason === "length"
    ? { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
    : { status: "completed", incomplete_details: null };
}

function usageOf(answer: SimulatedAnswer, behaviour: Behaviour): unknown {
  if (behaviour.no_usage === true) return null;
  if (behaviour.usage_as_is !== undefined) return behaviour.usage_as_is;
  const usage = simulatedUsage(answer, behaviour) as {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    prompt_tokens_details: { cached_tokens: number; cache_write_tokens?: number };
    completion_tokens_details: { reasoning_tokens: number };
  };
  return {
    input_tokens: usage.prompt_tokens,
    input_tokens_details: { cache_write_tokens: 0, ...usage.prompt_tokens_details },
    output_tokens: usage.completion_tokens,
    output_tokens_details: usage.completion_tokens_details,
    total_tokens: usage.total_tokens,
  };
}

function streamOf(
  head: object,
  call: ResponsesCall,
  { answer, behaviour }: { answer: SimulatedAnswer; behaviour: Behaviour },
): StreamWords {
  let place = 0;
  const print = (type: string, members: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: place++, ...members })}\n\n`;
  return {
    events: events(head, call, { answer, behaviour, print }),
    end: "",
    get error() {
      return print("error", FAILED);
    },
    get late() {
      return print("response.output_text.delta", {
        item_id: "msg_late",
        output_index: 99,
        content_index: 0,
        delta: "late",
        logprobs: [],
      });
    },
  };
}

type Print = (type: string, members: object) => string;

function* events(
  head: object,
  call: ResponsesCall,
  { answer, behaviour, print }: { answer: SimulatedAnswer; behaviour: Behaviour; print: Print },
): Generator<Said> {
  const plain = (type: string, members: object): Said => ({ bytes: print(type, members), tokens: 0 });
  const usage = usageOf(answer, behaviour);
  const early = behaviour.usage_first === true ? usage : null;
  const running = responseOf(head, call, { status: "in_progress", output: [], usage: early });
  yield plain("response.created", { response: running });
  yield plain("response.in_progress", { response: running });
  const items = simulatedItems(answer, call);
  for (const [output_index, one] of items.entries()) {
    yield plain("response.output_item.added", { output_index, item: one.opening });
    yield* grown(one, output_index, { print, perEvent: behaviour.tokens_per_chunk ?? 1 });
    yield plain("response.output_item.done", { output_index, item: one.item });
  }
  if (behaviour.no_finish === true) return;
  const end = endOf(answer);
  const output = items.map(({ item }) => item);
  const response = responseOf(head, call, { ...end, output, usage, ...tierOf(behaviour) });
  yield plain(`response.${end.status}`, { response });
}

/** Yields the text of one item, in groups, between the events that open and close it. */
function* grown(
  { id, words, pieces }: SimulatedItem,
  output_index: number,
  { print, perEvent }: { print: Print; perEvent: number },
): Generator<Said> {
  const at = { item_id: id, output_index, ...words.place };
  if (words.opens !== null) yield { bytes: print(words.opens, { ...at, part: words.part("") }), tokens: 0 };
  for (let from = 0; from < pieces.length; from += perEvent) {
    const group = pieces.slice(from, from + perEvent);
    const tokens = group.reduce((total, piece) => total + piece.tokens, 0);
    const delta = group.map(({ text }) => text).join("");
    const also = words.logprobs === null ? {} : { logprobs: group.flatMap(words.logprobs) };
    const bytes =
      words.delta === null || delta === ""
        ? ""
        : print(words.delta, { ...at, delta, ...also, obfuscation: "x".repeat(8) });
    yield { bytes, tokens };
  }
  if (words.delta === null) return;
  const whole = pieces.map(({ text }) => text).join("");
  const also = words.logprobs === null ? {} : { logprobs: pieces.flatMap(words.logprobs) };
  yield { bytes: print(words.done, { ...at, [words.member]: whole, ...also }), tokens: 0 };
  if (words.closes !== null)
    yield { bytes: print(words.closes, { ...at, part: words.part(whole) }), tokens: 0 };
}

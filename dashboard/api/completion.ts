// Streams one request of the playground: what was held, each part, what it cost. Requests and answers use the
// vocabulary of chat completions; `surface-words.ts` translates them for each surface.
import type { ChatBody, Chunk, Settled, ToolCallPart, Usage } from "./chat.ts";
import { ApiError, open } from "./client.ts";
import { eventsOf } from "./event-stream.ts";
import type { SpokenSurface } from "../../src/domain/surfaces.ts";
import { addressOf } from "./routes.ts";
import { WORDS } from "./surface-words.ts";
import { CallPlaces } from "./words.ts";

interface Paying {
  org: string;
  /** The id of the key that pays. */
  key: string;
}

export type CompletionEvent =
  | { kind: "admitted"; requestId: string | null; heldUsd: string | null }
  | { kind: "part"; content: string; reasoning: string; calls: readonly ToolCallPart[] }
  | { kind: "ended"; finishReason: string; usage: Usage | null; gateway: Settled }
  /** The gateway reported an error in the middle of the answer; what arrived is settled if `gateway` has a cost. */
  | { kind: "cut"; error: ApiError; gateway: Settled | null };

interface Terms {
  surface: SpokenSurface;
  request: ChatBody;
  signal: AbortSignal;
}

/** The stream stopped without its end: the network, or something in between, cut it off. */
class BrokeOff extends Error {
  constructor() {
    super("The answer was cut off before its end.");
    this.name = "BrokeOff";
  }
}

/** Sends no `Idempotency-Key`: with one, a stopped request would run to its end and be paid in full. */
export async function* complete(
  { org, key }: Paying,
  { surface, request, signal }: Terms,
): AsyncGenerator<CompletionEvent> {
  const response = await open(addressOf("POST /orgs/{org}/playground", { org }), {
    method: "POST",
    signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key, surface, request: withUsage(surface, request) }),
  });
  yield {
    kind: "admitted",
    requestId: response.headers.get("x-request-id"),
    heldUsd: response.headers.get("x-gw-hold-usd"),
  };
  let finishReason: string | null = null;
  let told: Usage | null = null;
  let settled: Settled | null = null;
  for await (const { choices = [], usage, gateway, error } of chunksOf(response, surface, request.stream)) {
    if (gateway !== undefined) settled = gateway;
    if (error !== undefined) {
      yield { kind: "cut", error: errorOf(error, response.status), gateway: settled };
      return;
    }
    if (usage) told = usage;
    for (const { delta, message, finish_reason } of choices) {
      if (finish_reason) finishReason = finish_reason;
      const said = delta ?? message;
      const content = said?.content ?? "";
      const reasoning = said?.reasoning_content ?? "";
      const calls = said?.tool_calls ?? [];
      if (content !== "" || reasoning !== "" || calls.length > 0)
        yield { kind: "part", content, reasoning, calls };
    }
  }
  if (finishReason === null || settled?.cost === undefined) throw new BrokeOff();
  yield { kind: "ended", finishReason, usage: told, gateway: settled };
}

async function* chunksOf(
  response: Response,
  surface: SpokenSurface,
  streamed: boolean,
): AsyncGenerator<Chunk> {
  const { event, whole } = WORDS[surface];
  const calls = new CallPlaces();
  if (streamed) for await (const data of eventsOf(response)) yield event(JSON.parse(data), calls);
  else yield whole(await response.json());
}

/** Chat completions report the usage of a stream only on request. */
const withUsage = (surface: SpokenSurface, request: ChatBody): object => ({
  ...WORDS[surface].body(request),
  ...(surface === "chat.completions" && request.stream && { stream_options: { include_usage: true } }),
});

const errorOf = (error: NonNullable<Chunk["error"]>, status: number): ApiError =>
  new ApiError({ ...error, status, requestId: error.request_id ?? null });

// A reader of event streams for tests, strict about framing: fails on any line other than `data`, `id` or a comment.

import type { CostLine } from "../../src/pricing/cost-lines.ts";

export interface ChunkJson {
  id: string;
  object: string;
  created: number;
  model: string;
  choices: {
    index: number;
    delta: {
      role?: string;
      content?: string | null;
      refusal?: string | null;
      reasoning_content?: string;
      tool_calls?: {
        index: number;
        id?: string;
        type?: string;
        function: { name?: string; arguments: string };
      }[];
    };
    logprobs: unknown;
    finish_reason: string | null;
  }[];
  usage?: Record<string, unknown> | null;
  gateway?: GatewayJson;
  error?: ErrorJson["error"];
}

export interface GatewayJson {
  request_id: string;
  idempotency: { key: string; caller_supplied: boolean; cross_request_replay_safe: boolean };
  public_model: string;
  provider: string;
  route: { public_model: string; provider: string; region: string; release_version: number };
  access: { tier: string; research_mode: boolean };
  cost: {
    input_tokens: number;
    output_tokens: number;
    customer_charge_usd: number;
    currency: string;
    minimum_applied: boolean;
    evidence: string;
    lines: CostLine[];
  };
  attempts: number;
}

export interface ErrorJson {
  error: {
    message: string;
    type: string;
    code: string;
    param: string | null;
    request_id: string;
    details?: Record<string, string | number | null>;
  } & Record<string, unknown>;
  gateway?: Partial<GatewayJson>;
}

export interface Events {
  raw: string;
  chunks: ChunkJson[];
  done: boolean;
  ids: string[];
}

/** Parses a whole stream. */
export function readEvents(raw: string): Events {
  const events: Events = { raw, chunks: [], done: false, ids: [] };
  for (const block of raw.split("\n\n")) {
    for (const line of block.split("\n")) {
      if (line === "" || line.startsWith(":")) continue;
      if (line.startsWith("id: ")) events.ids.push(line.slice(4));
      else if (line === "data: [DONE]") events.done = true;
      else if (line.startsWith("data: ")) events.chunks.push(JSON.parse(line.slice(6)) as ChunkJson);
      else throw new Error(`an event stream with the line ${JSON.stringify(line)}`);
    }
  }
  return events;
}

/** The concatenated text of a choice. */
export const textOf = ({ chunks }: Events, choice = 0): string =>
  chunks
    .flatMap(({ choices }) =>
      choices.filter(({ index }) => index === choice).map(({ delta }) => delta.content ?? ""),
    )
    .join("");

export const reasoningOf = ({ chunks }: Events): string =>
  chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.reasoning_content ?? "")).join("");

/** The receipt: the last `gateway` object of the stream. */
export function gatewayOf({ chunks }: Events): GatewayJson {
  const gateway = chunks.findLast((chunk) => chunk.gateway !== undefined)?.gateway;
  if (gateway === undefined) throw new Error("a stream without a gateway object");
  return gateway;
}

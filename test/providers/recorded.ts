// Recorded answers of real providers (shared fixtures), served over a real socket and parsed by the provider under
// test: whatever the framing and wherever the bytes are split, the outcome is exactly what their description promises
// (wire.md §8.4).
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { Failure } from "../../src/providers/failure.ts";
import type { Answer, Part, Provider, ProviderCall, ProviderUsage } from "../../src/providers/provider.ts";
import {
  callDraft,
  chatRequest,
  failureOf,
  httpReply,
  providerCall,
  startUpstream,
} from "../../src/providers/openai/openai.fixtures.ts";

const ROOM = `${import.meta.dir}/../../../shared/fixtures/providers`;

/** One wire shape whose recordings are read. */
export interface RecordedShape {
  /** True if recordings of this `format` are of this shape. */
  reads(format: string): boolean;
  /** The content type of its streams. */
  contentType: string;
  /** A stream as it is sent, from its recorded lines; `lineEnd` is for line-based framing. */
  framed(lines: readonly string[], lineEnd: string): Buffer;
  /** The framing is not line-based: line ends make no difference. */
  binary?: true;
  /** The provider under test, at an address. */
  provider(baseUrl: string): Provider;
}

interface Expected {
  format: string;
  kind: "stream" | "body" | "error";
  outcome: "complete" | "broken" | "error";
  content: string;
  reasoning: string;
  tool_calls: {
    index: number;
    id: string | null;
    name: string;
    arguments: unknown;
    arguments_text: string | null;
  }[];
  finish_reason: string | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  cached_tokens: number | null;
  reasoning_tokens: number | null;
  error?: { upstream_status: number; retry_after_s: number | null };
}

/** An answer as a client finally has it. */
export interface Heard {
  content: string;
  reasoning: string;
  calls: { id: string; name: string; arguments: string }[];
  finish: string | null;
  usage: ProviderUsage | null;
}

/** By their paths; empty if they are missing. */
export const RECORDINGS = existsSync(ROOM)
  ? (JSON.parse(readFileSync(`${ROOM}/expected.json`, "utf8")) as Record<string, Expected>)
  : {};
export const readRecording = (path: string): string => readFileSync(`${ROOM}/${path}`, "utf8");

/** The events of a recorded stream. */
export const linesOf = (path: string): string[] =>
  readRecording(path)
    .split("\n")
    .filter((line) => line.trim() !== "");

/** Pieces of the sizes that `size` returns, one after another. */
function cut(bytes: Buffer, size: () => number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const next = Math.min(bytes.length, at + size());
    pieces.push(bytes.subarray(at, next));
    at = next;
  }
  return pieces;
}

/** A small deterministic generator, so that a failing split can be reproduced. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state / 2 ** 32;
  };
}

/** A call of this provider: its content does not matter, because the answer is recorded. */
const callOf = (provider: Provider, stream: boolean): ProviderCall => {
  const request = chatRequest({ stream });
  return { ...providerCall({ request }), body: provider.prepare(callDraft({ request })) };
};

/** A stream of these bytes, as this shape's provider reads it from a socket. */
export async function heardOverHttp(shape: RecordedShape, pieces: readonly Buffer[]): Promise<Heard> {
  await using upstream = await startUpstream(({ socket }) => {
    socket.setNoDelay(true);
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${shape.contentType}\r\n\r\n`);
    for (const piece of pieces) socket.write(piece);
    socket.end();
  });
  const provider = shape.provider(upstream.url);
  const parts: Part[] = [];
  const { parts: groups } = await provider.stream(callOf(provider, true));
  for await (const group of groups) parts.push(...group);
  return heard(parts);
}

/** A whole body, as this shape's provider reads it. */
export async function heardWhole(shape: RecordedShape, body: string): Promise<Heard> {
  await using upstream = await startUpstream(({ socket }) => socket.write(httpReply(200, body)));
  const provider = shape.provider(upstream.url);
  return ofAnswer(await provider.complete(callOf(provider, false)));
}

function heard(parts: Part[]): Heard {
  const all: Heard = { content: "", reasoning: "", calls: [], finish: null, usage: null };
  for (const part of parts) {
    if (part.type === "text") all.content += part.text;
    else if (part.type === "reasoning") all.reasoning += part.text;
    else if (part.type === "finish") all.finish = part.reason;
    else if (part.type === "usage") all.usage = part.usage;
    else if (part.type === "tool_call") {
      expect(part.index).toBe(all.calls.length);
      all.calls.push({ id: part.id, name: part.name, arguments: "" });
    } else if (part.type === "tool_arguments") {
      const call = all.calls[part.index];
      if (call === undefined) throw new Error("arguments before their call");
      call.arguments += part.text;
    }
  }
  return all;
}

function ofAnswer({ choices, usage }: Answer): Heard {
  const [choice] = choices;
  return {
    content: choice?.content ?? "",
    reasoning: choice?.reasoning ?? "",
    calls: choice?.toolCalls ?? [],
    finish: choice?.finishReason ?? null,
    usage,
  };
}

function expectSame(got: Heard, expected: Expected): void {
  expect(got.content).toBe(expected.content);
  expect(got.reasoning).toBe(expected.reasoning);
  expect(got.finish).toBe(expected.finish_reason);
  expect(got.calls).toHaveLength(expected.tool_calls.length);
  for (const [index, call] of expected.tool_calls.entries()) {
    const mine = got.calls[index];
    expect(mine?.name).toBe(call.name);
    if (call.id === null) expect(mine?.id).toStartWith("call_");
    else expect(mine?.id).toBe(call.id);
    if (call.arguments_text === null) expect(JSON.parse(mine?.arguments ?? "")).toEqual(call.arguments);
    else expect(mine?.arguments || "{}").toBe(call.arguments_text);
  }
  expect(got.usage?.promptTokens ?? null).toBe(expected.prompt_tokens);
  expect(got.usage?.completionTokens ?? null).toBe(expected.completion_tokens);
  expect(got.usage?.cachedTokens ?? null).toBe(expected.cached_tokens);
  expect(got.usage?.reasoningTokens ?? null).toBe(expected.reasoning_tokens);
}

const WAYS: [string, string, (bytes: Buffer) => Buffer[]][] = [
  ["in one write", "\n", (bytes) => [bytes]],
  ["in one write, CRLF", "\r\n", (bytes) => [bytes]],
  ["in one write, CR", "\r", (bytes) => [bytes]],
  ["byte by byte", "\n", (bytes) => cut(bytes, () => 1)],
  ["byte by byte, CRLF", "\r\n", (bytes) => cut(bytes, () => 1)],
  ["in pieces of 1 to 7 bytes", "\n", (bytes) => cut(bytes, pieceOf(7, 42))],
  ["in pieces of 1 to 7 bytes, CRLF", "\r\n", (bytes) => cut(bytes, pieceOf(7, 7))],
  ["in odd large pieces", "\n", (bytes) => cut(bytes, pieceOf(4001, 3))],
  ["in odd large pieces, CRLF", "\r\n", (bytes) => cut(bytes, pieceOf(4001, 3))],
];

function pieceOf(max: number, seed: number): () => number {
  const next = random(seed);
  return () => 1 + Math.floor(next() * max);
}

/** Tests every recording of a shape: streams split in all ways, whole bodies, and refusals. */
export function testRecorded(name: string, shape: RecordedShape): void {
  const own = Object.entries(RECORDINGS).filter(([, { format }]) => shape.reads(format));
  const ofKind = (kind: Expected["kind"]): [string, Expected][] =>
    own.filter(([, expected]) => expected.kind === kind);
  const ways = shape.binary === true ? WAYS.filter(([, lineEnd]) => lineEnd === "\n") : WAYS;

  describe.skipIf(!existsSync(ROOM))(`recorded answers: ${name}`, () => {
    test("there are some", () => {
      expect(own.length).toBeGreaterThan(0);
    });

    for (const [path, expected] of ofKind("stream")) {
      for (const [way, lineEnd, cutUp] of ways) {
        test(`${path} ${way}`, async () => {
          expect(expected.outcome).toBe("complete");
          const pieces = cutUp(shape.framed(linesOf(path), lineEnd));
          expectSame(await heardOverHttp(shape, pieces), expected);
        }, 120_000);
      }
    }

    for (const [path, expected] of ofKind("body")) {
      test(`${path} as a whole answer`, async () => {
        expectSame(await heardWhole(shape, readRecording(path)), expected);
      });
    }

    for (const [path, { error }] of ofKind("error")) {
      test(`${path} is a refusal that proves that nothing ran`, async () => {
        if (error === undefined) throw new Error("an error without its figures");
        const { upstream_status: status, retry_after_s: retryAfterS } = error;
        const reply = httpReply(status, readRecording(path));
        await using upstream = await startUpstream(({ socket }) => socket.write(reply));
        const provider = shape.provider(upstream.url);
        const failure = await failureOf(provider.complete(callOf(provider, false)));
        expect(failure).toBeInstanceOf(Failure);
        expect(failure.executed).toBe("no");
        expect(failure.reason).toBe(status === 429 ? "rate_limited" : "rejected");
        expect(failure.upstream.status).toBe(status);
        expect(failure.upstream.retryAfterMs ?? null).toBe(
          retryAfterS === null ? null : Math.ceil(retryAfterS) * 1000,
        );
      });
    }
  });
}

/** The framing of server-sent events, an event for each line; `named`: with the line's `type` as its name. */
export const serverSent = (
  lines: readonly string[],
  lineEnd: string,
  { named = false }: { named?: boolean } = {},
): Buffer =>
  Buffer.from(
    lines
      .map((line) => {
        const name = named ? `event: ${(JSON.parse(line) as { type: string }).type}${lineEnd}` : "";
        return `${name}data: ${line}${lineEnd}${lineEnd}`;
      })
      .join(""),
  );

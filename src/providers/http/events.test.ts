import { expect, test } from "bun:test";
import type { AnswerReader, EventEnd, Framing } from "../codec.ts";
import { Failure } from "../failure.ts";
import { NO_CLASSES } from "../../domain/token-classes.ts";
import type { Part, ProviderUsage } from "../provider.ts";
import { readParts } from "./events.ts";
import { CallTimeouts } from "./timeouts.ts";

const FAR = { firstTokenMs: 60_000, idleMs: 60_000, totalMs: 60_000 };
const figures = (completionTokens: number): ProviderUsage => ({
  promptTokens: 1,
  completionTokens,
  ...NO_CLASSES,
});

/**
 * A shape with one byte per event: a digit is usage, a letter is text, "." the finish, "!" an error; "_" in front of
 * them nothing.
 */
class Letters implements AnswerReader<string>, Framing<string> {
  readonly id = "up-1";
  complete = false;
  usageTold = false;
  readonly began = false;

  push(bytes: Uint8Array): string[] {
    const silent = bytes.lastIndexOf("_".charCodeAt(0)) + 1;
    return Array.from(new TextDecoder().decode(bytes.subarray(silent)));
  }

  event(letter: string, parts: Part[]): EventEnd {
    if (letter === "!") return { status: 429, code: "busy", message: "", param: null, retryAfterMs: 7 };
    if (letter === ".") this.complete = true;
    else if (/\d/.test(letter)) parts.push({ type: "usage", usage: figures(Number(letter)) });
    else parts.push({ type: "text", choice: 0, text: letter });
    return null;
  }

  whole(): void {
    throw new Error("not read whole");
  }

  close(parts: Part[]): void {
    parts.push({ type: "finish", choice: 0, reason: "stop" });
  }
}

/** Returns what is handed over of these reads, one group each, and how the stream ended. */
async function read(
  reads: readonly (string | Uint8Array)[],
): Promise<{ groups: string[]; failure: Failure | null }> {
  const letters = new Letters();
  const left = reads.map((one) => (typeof one === "string" ? new TextEncoder().encode(one) : one));
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = left.shift();
      if (next === undefined) controller.close();
      else controller.enqueue(next);
    },
  });
  const timeouts = new CallTimeouts(new AbortController().signal, FAR);
  const groups: string[] = [];
  try {
    const parts = readParts(new Response(body), { framing: letters, reader: letters, timeouts, secrets: [] });
    for await (const group of parts) groups.push(group.map(printed).join(""));
    return { groups, failure: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { groups, failure: error };
  }
}

function printed(part: Part): string {
  if (part.type === "usage") return String(part.usage.completionTokens);
  return part.type === "text" ? part.text : ".";
}

test("usage alone begins no answer: it goes in front of the first words, the latest of it", async () => {
  expect((await read(["1", "2", "ab", "3", "."])).groups).toEqual(["2ab", "3", "."]);
  expect((await read(["1", "."])).groups).toEqual(["1."]);
});

test("an error behind usage alone still proves what its kind proves, behind words it proves nothing", async () => {
  const early = await read(["1", "!"]);
  expect([early.groups, early.failure?.reason, early.failure?.executed]).toEqual([[], "rate_limited", "no"]);
  expect(early.failure?.upstream).toMatchObject({ retryAfterMs: 7, id: "up-1" });
  const late = await read(["1", "ab!"]);
  expect([late.groups, late.failure?.reason, late.failure?.executed]).toEqual([["1ab"], "server", "unknown"]);
});

test("what one read brings is handed over in pieces, all of it in order, also in front of an error", async () => {
  const many = "abcdefghij".repeat(100);
  for (const end of [".", "!"]) {
    const { groups } = await read([`1${many}${end}`]);
    expect(groups.join("").replace(".", "")).toBe(`1${many}`);
    for (const group of groups) expect(group.length).toBeLessThanOrEqual(256);
  }
});

const SILENCE_BYTES = 12 * 1024 * 1024;

test("bytes without a word are an end after 32 MiB, and words begin the count anew, whatever the framing", async () => {
  const silence = new Uint8Array(SILENCE_BYTES).fill("_".charCodeAt(0));
  const silent = await read([silence, silence, silence, "a."]);
  expect([silent.groups, silent.failure?.message]).toEqual([
    [],
    "the upstream sent a lot of data without content",
  ]);
  const speaking = await read([silence, silence, "a", silence, silence, "b", "."]);
  expect([speaking.failure, speaking.groups.join("")]).toEqual([null, "ab."]);
});

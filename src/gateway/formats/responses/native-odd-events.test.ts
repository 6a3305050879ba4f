// An upstream of this very shape that counts oddly, names what it never opened, or leaves out what others send: the result is a
// stream that the vendor's own client reads to its end, and no text that is paid for is missing.
import { expect, test } from "bun:test";
import fc from "fast-check";
import OpenAI from "openai";
import { wireJson } from "../../../domain/wire-json.ts";
import { goneWrong, oddStep } from "../odd-events.fixtures.ts";
import type { JsonObject } from "../../../domain/read-value.ts";
import {
  anything,
  dataIn,
  figures,
  HEAD,
  printedStream,
  printerOf,
  readNative,
  relayed,
} from "./response-events.fixtures.ts";

const INDEXES = ["output_index", "content_index", "summary_index", "annotation_index", "sequence_number"];
const PATHS = [
  ...[...INDEXES, "item_id", "delta", "item", "part", "response"].map((name) => [name]),
  ...["id", "type", "call_id", "content", "summary", "arguments"].map((name) => ["item", name]),
  ...["type", "text", "annotations"].map((name) => ["part", name]),
  ...["status", "output", "id"].map((name) => ["response", name]),
];

/** As the vendor's client assembles it; throws where that does. */
async function readByVendor(raw: string): Promise<OpenAI.Responses.Response> {
  const answer = () =>
    Promise.resolve(new Response(raw, { headers: { "content-type": "text/event-stream" } }));
  const client = new OpenAI({ apiKey: "k", baseURL: "http://localhost/v1", maxRetries: 0, fetch: answer });
  return await client.responses.stream({ model: "m", input: "" }).finalResponse();
}

test("whatever its events count, name or leave out, the vendor's client reads them, and every word that counts is shown", async () => {
  await fc.assert(
    fc.asyncProperty(
      anything,
      fc.array(oddStep(PATHS), { minLength: 1, maxLength: 3 }),
      async (parts, steps) => {
        const theirs = goneWrong(dataIn(printedStream(parts, false, "stop")), steps);
        const heard = readNative(theirs);
        if (heard === null) return; // an answer that is broken for every reader
        const raw = relayed(theirs, "stop");
        const data = dataIn(raw);
        const names = [...raw.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
        const told = data.map((one) => JSON.parse(one) as { type: string; sequence_number: number });
        expect(told.map(({ type }) => type)).toEqual(names as string[]);
        expect(told.map(({ sequence_number: place }) => place)).toEqual(told.map((_, place) => place));
        await readByVendor(raw);
        for (const part of heard)
          if ("text" in part && part.type !== "tool_arguments")
            expect(raw).toContain(wireJson(part.text).slice(1, -1));
      },
    ),
    { numRuns: 150 },
  );
});

/** The output of an upstream's whole body as it is passed on: in one piece, and as the end of a stream that sent nothing before. */
async function outputOf(output: unknown): Promise<{ whole: Item[]; streamed: Item[] }> {
  const native = { id: "resp_theirs", object: "response", status: "completed", output } as JsonObject;
  const body = printerOf().answer(HEAD, { choices: [], usage: null, upstreamId: null, native }, figures);
  const raw = relayed([JSON.stringify({ type: "response.completed", response: native })], "stop");
  const streamed = await readByVendor(raw);
  return {
    whole: (JSON.parse(body) as { output: Item[] }).output,
    streamed: streamed.output as unknown as Item[],
  };
}
type Item = Record<string, unknown>;

test("a whole body's calls can be answered: each has an id that no other one has, the one that its stream would tell", async () => {
  const call = { type: "function_call", name: "look", arguments: "{}", status: "completed" };
  const { whole, streamed } = await outputOf([
    { ...call, id: "fc_1" },
    { ...call, id: "fc_2", call_id: "call_1" },
    { ...call, id: "fc_2", call_id: "call_1" },
    { ...call, call_id: 7 },
    { type: "custom_tool_call", name: "patch", input: "x", status: "completed" },
    {
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Hi" }],
    },
    null,
  ]);
  const named = (items: Item[]) => items.map(({ id, type, call_id }) => ({ id, type, call_id }));
  expect(named(whole)).toEqual(named(streamed));
  const ids = whole.slice(0, 5).map((one) => one["call_id"]);
  expect(ids.every((id) => typeof id === "string" && id !== "")).toBe(true);
  expect(new Set(ids).size).toBe(5);
  expect(ids.slice(0, 2)).toEqual(["call_fc_1", "call_1"]);
  expect(whole[5]).toMatchObject({ content: [{ type: "output_text", text: "Hi", annotations: [] }] });
});

test("a whole body that counts as it should stays as it came, and one without a list of its output has one", async () => {
  const call = { id: "fc_1", type: "function_call", call_id: "call_1", name: "look", arguments: "{}" };
  const unknown = { id: "x_1", type: "new_call", of: { the: "vendor" } };
  expect((await outputOf([call, unknown])).whole).toEqual([call, unknown]);
  expect((await outputOf(undefined)).whole).toEqual([]);
});

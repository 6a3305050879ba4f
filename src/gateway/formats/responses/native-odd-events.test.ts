// An upstream of this very shape that counts oddly, names what it never opened, or leaves out what others tell: what goes on of it is a
// stream that the vendor's own client reads to its end, and no word of it that is paid for is missing.
import { expect, test } from "bun:test";
import fc from "fast-check";
import OpenAI from "openai";
import { wireJson } from "../../../domain/wire-json.ts";
import { goneWrong, oddStep } from "../odd-events.fixtures.ts";
import { anything, dataIn, printedStream, readNative, relayed } from "./response-events.fixtures.ts";

const INDEXES = ["output_index", "content_index", "summary_index", "annotation_index", "sequence_number"];
const PATHS = [
  ...[...INDEXES, "item_id", "delta", "item", "part", "response"].map((name) => [name]),
  ...["id", "type", "call_id", "content", "summary", "arguments"].map((name) => ["item", name]),
  ...["type", "text", "annotations"].map((name) => ["part", name]),
  ...["status", "output", "id"].map((name) => ["response", name]),
];

/** As the vendor's client puts it together; throws where it does. */
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

// A caller's own body is sent as it was written, except for the gateway's fields; and it is priced as it is sent
// (money.md §6).
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { NativeBody } from "../../../domain/native-body.ts";
import { printNumber } from "../../../domain/print.ts";
import { openAiCodec } from "../codec.ts";
import { DIALECTS } from "../dialects.ts";
import { callDraft, chatRequest, streamCall } from "../openai.fixtures.ts";
import type { CallDraft } from "../../provider.ts";
import { responsesBody } from "./responses-body.ts";
import { printedText } from "../../printed-text.fixtures.ts";

type Json = Record<string, unknown>;
const nativeOf = (body: Json): NativeBody => ({ shape: "openai-responses", body, headers: {}, only: null });
const bodyOf = (body: Json, draft: Partial<CallDraft> = {}, images = 0) =>
  responsesBody(callDraft({ request: chatRequest({ images }), ...draft }), nativeOf(body), "mine");
const sent = (body: Json, draft: Partial<CallDraft> = {}): string => printedText(bodyOf(body, draft), 64);

test("order and unknown members stay; model, maximum, store and identifiers are ours", () => {
  const body = {
    future: { z: 1, a: [2] },
    model: "public",
    max_output_tokens: 9999,
    input: [{ role: "user", content: [{ type: "input_text", text: "Hi", later: true }] }],
    user: "raw",
    prompt_cache_key: "raw",
    store: false,
    background: false,
    truncation: null,
    tools: [{ type: "function", name: "a", defer_loading: true }],
  };
  expect(sent(body, { identifiers: { user: "hashed" } })).toBe(
    '{"future":{"z":1,"a":[2]},"model":"acme/upstream-model",' +
      '"input":[{"role":"user","content":[{"type":"input_text","text":"Hi","later":true}]}],' +
      '"user":"hashed","tools":[{"type":"function","name":"a","defer_loading":true}],"store":false,"max_output_tokens":64}',
  );
  expect(body.model).toBe("public");
});

test("schemas keep numbers that no double holds", () => {
  const parameters = { type: "object", properties: { a: { maximum: printNumber("175928847299117063") } } };
  const format = { type: "json_schema", name: "n", schema: parameters };
  const said = sent({ input: "Hi", tools: [{ type: "function", name: "a", parameters }], text: { format } });
  expect(said.match(/"maximum":175928847299117063/g)).toHaveLength(2);
});

test("the published mode, the default temperature and the stream are said, where the caller was silent, too", () => {
  const said = (body: Json, draft: Partial<CallDraft>): unknown => JSON.parse(sent(body, draft));
  const base = { model: "acme/upstream-model", input: "Hi", store: false, max_output_tokens: 64 };
  const draft = { reasoningEffort: "low", temperature: 1 };
  expect(said({ model: "m", input: "Hi" }, draft)).toEqual({
    ...base,
    reasoning: { effort: "low" },
    temperature: 1,
  });
  expect(said({ model: "m", input: "Hi", reasoning: { summary: "auto" } }, draft)).toMatchObject({
    reasoning: { summary: "auto", effort: "low" },
  });
  const request = chatRequest({ stream: true });
  expect(said({ model: "m", input: "Hi", stream: true }, { request })).toEqual({ ...base, stream: true });
});

test("reasoning goes back to whom it names; any other is left out, with the ids that say what it led to", () => {
  const thought = (sealed: unknown) => ({
    id: "rs_1",
    type: "reasoning",
    summary: [],
    encrypted_content: sealed,
  });
  const call = { id: "fc_1", type: "function_call", call_id: "a", name: "x", arguments: "{}" };
  const output = { type: "function_call_output", call_id: "a", output: "" };
  const { id: _id, ...nameless } = call;
  const inputOf = (...input: unknown[]): unknown =>
    (JSON.parse(sent({ model: "m", input } as Json)) as { input: unknown }).input;
  expect(inputOf(thought("tollgate.sealed.mine.gAAA"), call, output)).toEqual([
    thought("gAAA"),
    call,
    output,
  ]);
  for (const foreign of ["tollgate.sealed.other.gAAA", "tollgate.state.e30", "gAAA", "", null, undefined])
    expect(inputOf(thought(foreign), call, output, call)).toEqual([nameless, output, call]);
  for (const led of [
    { id: "ctc_1", type: "custom_tool_call", call_id: "a", name: "x", input: "" },
    { id: "msg_1", type: "message", role: "assistant", content: "Yes" },
    { id: "tsc_1", type: "tool_search_call", call_id: "a", arguments: { query: "x" } },
  ]) {
    const { id: _led, ...unnamed } = led;
    expect(inputOf(thought("gAAA"), led)).toEqual([unnamed]);
    expect(inputOf(thought("tollgate.sealed.mine.gAAA"), led)).toEqual([thought("gAAA"), led]);
  }
  const ours = { ...call, id: `fc_${"0".repeat(32)}_1` };
  expect(inputOf(ours)).toEqual([nameless]);
  const [long, answer] = inputOf(
    { ...call, call_id: "x".repeat(65) },
    { ...output, call_id: "x".repeat(65) },
  ) as Json[];
  expect(String(long?.["call_id"])).toMatch(/^call_[0-9a-f]{40}$/);
  expect(answer?.["call_id"]).toBe(long?.["call_id"]);
});

test("data of images and files weighs nothing; everything else is in the bound and in the exact count", () => {
  const data = "A".repeat(10_000);
  const parts = [
    { type: "input_image", image_url: `data:image/png;base64,${data}` },
    { type: "input_file", filename: "漢.pdf", file_data: `data:application/pdf;base64,${data}` },
    { type: "input_image", image_url: "https://pictures.test/a.png" },
  ];
  const body = bodyOf(
    {
      model: "m",
      input: [
        { role: "user", content: parts },
        { type: "function_call_output", output: parts },
      ],
    },
    {},
    1,
  );
  expect(printedText(body, 64).length).toBeGreaterThan(40_000);
  expect(body.size.bytes).toBeLessThan(1000);
  expect(body.text()).toContain("https://pictures.test/a.png");
  expect(body.text()).not.toContain("AAAA");
});

test("what a model reads of tools, calls and forms is in the exact count; items and tools are counted", () => {
  const tool = { type: "function", name: "look", description: "Looks", parameters: { type: "object" } };
  const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "peer", arguments: "{}" };
  const body = {
    model: "m",
    instructions: "Brief",
    input: [
      { role: "user", content: "Hi" },
      { ...call, namespace: "group" },
      {
        type: "additional_tools",
        role: "developer",
        tools: [{ ...tool, parameters: { properties: { port: {} } } }],
      },
    ],
    tools: [tool],
    text: { format: { type: "json_schema", name: "shape", schema: { required: ["weather"] } } },
    future: "later",
  };
  const request = chatRequest({ tools: [{ type: "function", function: { name: "look" } }], files: 2 });
  const { size, ...own } = bodyOf(body, { request });
  const text = own.text();
  for (const said of ["Brief", "Hi", "look", "Looks", "peer", "group", "shape", "weather", "later", "port"])
    expect(text).toContain(said);
  for (const frame of ["fc_1", "call_1"]) expect(text).not.toContain(frame);
  expect(size).toMatchObject({ messages: 4, tools: 1, files: 2 });
  expect(bodyOf({ model: "m", input: "Hi" }).size.messages).toBe(1);
});

test("it goes as it was written to who speaks the shape, and what was sealed comes back to the model that sealed it alone", () => {
  const codecOf = (responses: boolean) =>
    openAiCodec({ family: "acme", authorize: () => ({}), dialect: { ...DIALECTS.openai, responses } });
  const input = (sealed: string) => [{ type: "reasoning", summary: [], encrypted_content: sealed }];
  const draftOf = (sealed: string, upstreamModel: string): CallDraft => {
    const draft = callDraft({
      request: chatRequest({ native: nativeOf({ model: "m", input: input(sealed) }) }),
    });
    return { ...draft, release: { ...draft.release, upstreamModel } };
  };
  const { request } = draftOf("", "one");
  const call = (codec: ReturnType<typeof codecOf>) => {
    const body = codec.prepare(draftOf("", "one"));
    return { ...streamCall(), request, upstreamModel: "one", body };
  };
  const [speaks, translated] = [codecOf(true), codecOf(false)];
  expect(speaks.target(call(speaks)).path).toBe("/responses");
  expect(translated.target(call(translated)).path).toBe("/chat/completions");
  const told = speaks.reader(call(speaks)).passOn?.(JSON.stringify(input("gAAA"))) ?? "";
  const [{ encrypted_content: marked } = { encrypted_content: "" }] = JSON.parse(told) as ReturnType<
    typeof input
  >;
  const back = (model: string) =>
    JSON.parse(printedText(speaks.prepare(draftOf(marked, model)), 64)) as { input: unknown };
  expect(back("one").input).toEqual(input("gAAA"));
  expect(back("two").input).toEqual([]);
});

test("bytes that no image or file holds weigh what they are", () => {
  const data = "A".repeat(9000);
  for (const odd of [
    { type: "input_text", text: "x", file_data: data },
    { type: "input_text", text: "x", image_url: `data:image/png;base64,${data}` },
  ])
    expect(
      bodyOf({ model: "m", input: [{ role: "user", content: [odd] }] }, {}, 1).size.bytes,
    ).toBeGreaterThan(9000);
});

const word = fc.string({
  unit: fc.constantFrom("a", "é", "漢", "😀", "\n", '"', "\\", "\u0001"),
  maxLength: 12,
});
const item = fc.oneof(
  fc.record({ role: fc.constantFrom("user", "system"), content: word }),
  fc.record({
    type: fc.constant("message"),
    role: fc.constant("assistant"),
    content: fc.array(fc.record({ type: fc.constant("output_text"), text: word })),
  }),
  fc.record({ type: fc.constant("function_call"), call_id: word, name: word, arguments: word }),
  fc.record({ type: fc.constant("function_call_output"), call_id: word, output: word }),
);

test("what is sent is what is priced: the bound covers every byte, the exact count every word", () => {
  fc.assert(
    fc.property(
      fc.array(item),
      fc.record({ instructions: word, tools: fc.array(fc.jsonValue()) }),
      (input, also) => {
        const body = bodyOf({ model: "m", input, ...also });
        const printed = printedText(body, Number.MAX_SAFE_INTEGER);
        expect(Buffer.byteLength(printed)).toBeLessThanOrEqual(body.size.bytes);
        expect(Buffer.byteLength(body.text())).toBeLessThanOrEqual(body.size.bytes);
        for (const one of input) {
          const content = "content" in one ? one.content : "output" in one ? one.output : one.arguments;
          for (const said of typeof content === "string" ? [content] : content.map(({ text }) => text))
            expect(body.text()).toContain(said);
        }
        expect(body.text()).toContain(also.instructions);
        body.sent();
        expect(printedText(body, Number.MAX_SAFE_INTEGER)).toBe(printed);
      },
    ),
    { numRuns: 200 },
  );
});

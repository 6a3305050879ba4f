import { expect, test } from "bun:test";
import type { ChatRequest } from "../../domain/chat-request.ts";
import { geminiSent } from "./google.fixtures.ts";
import { issuerOf } from "../issuer.ts";
import { NO_SIGNATURE } from "./signatures.ts";

const MODEL = "gemini-3.8-flash";
const call = (id: string, name: string, args: string, extra?: Record<string, unknown>) => ({
  id,
  type: "function" as const,
  function: { name, arguments: args },
  ...(extra !== undefined && { extra_content: extra }),
});
const own = (signature: unknown, issuer: unknown = issuerOf("acme", MODEL)): Record<string, unknown> => ({
  google: { thought_signature: signature, issuer },
});

const contentsOf = (messages: ChatRequest["messages"], model = MODEL): unknown =>
  geminiSent({ messages }, { model })["contents"];
const turn = (extra?: Record<string, unknown>): ChatRequest["messages"] => [
  { role: "user", content: "Go." },
  {
    role: "assistant",
    content: null,
    tool_calls: [call("c1", "time", "{}", extra), call("c2", "time", "{}")],
  },
  { role: "tool", tool_call_id: "c1", content: "1" },
  { role: "tool", tool_call_id: "c2", content: "2" },
];
const signaturesOf = (extra: Record<string, unknown> | undefined, model = MODEL): unknown[] =>
  (contentsOf(turn(extra), model) as { parts: { thoughtSignature?: string }[] }[])[1]?.parts.map(
    ({ thoughtSignature }) => thoughtSignature ?? null,
  ) ?? [];

test("a signature goes back where it stood; in the place of one that is lost or foreign stands that there is none", () => {
  expect(signaturesOf(own("c2ln"))).toEqual(["c2ln", null]);
  expect(signaturesOf({ google: { thought_signature: "c2ln" } })).toEqual(["c2ln", null]); // without our mark
  const lost: (Record<string, unknown> | undefined)[] = [
    undefined,
    {},
    own("c2ln", issuerOf("other", MODEL)),
    own("c2ln", issuerOf("acme", "gemini-3.1-pro")),
    own("c2ln", 7),
    own(7),
    own(""),
    own("with blanks"),
    own("a".repeat(1024 * 1024 + 1)),
    { google: "c2ln" },
    { acme: { google: { thought_signature: "c2ln" } } },
    JSON.parse('{"__proto__":{"google":{"thought_signature":"c2ln"}}}') as Record<string, unknown>,
  ];
  for (const extra of lost) expect(signaturesOf(extra)).toEqual([NO_SIGNATURE, null]);
  expect(signaturesOf(undefined, "gemini-2.5-flash")).toEqual([null, null]); // requires none
});

test("every call has one answer behind it, in the order of the calls, whatever stands between and however often it came", () => {
  const output = (text: string): unknown => ({
    functionResponse: { name: "time", response: { output: text } },
  });
  const first = {
    role: "assistant" as const,
    content: null,
    tool_calls: [call("c1", "time", "{}"), call("c1", "time", "{}")],
  };
  expect(
    contentsOf([
      { role: "user", content: "Go." },
      first,
      { role: "user", content: "Hurry." },
      { role: "tool", tool_call_id: "c1", content: "1" },
      { role: "tool", tool_call_id: "c1", content: "2" },
      { role: "tool", tool_call_id: "c1", content: "3" },
      { role: "assistant", content: null, tool_calls: [call("c1", "time", "[]")] },
      { role: "tool", tool_call_id: "c1", content: "4" },
    ]),
  ).toMatchObject([
    { role: "user", parts: [{ text: "Go." }] },
    { role: "model", parts: [{}, {}] },
    { role: "user", parts: [output("1"), output("2\n3")] },
    { role: "user", parts: [{ text: "Hurry." }] },
    { role: "model", parts: [{ functionCall: { args: { arguments: "[]" } } }] },
    { role: "user", parts: [output("4")] },
  ]);
});

test("a result that says what went wrong is told as such", () => {
  const [, , told] = contentsOf([
    { role: "user", content: "Go." },
    { role: "assistant", content: null, tool_calls: [call("c1", "time", "{}")] },
    { role: "tool", tool_call_id: "c1", content: "no clock", failed: true },
  ]) as object[];
  expect(told).toEqual({
    role: "user",
    parts: [{ functionResponse: { name: "time", response: { error: "no clock" } } }],
  });
});

test("it begins and ends with the user, with something said", () => {
  expect(
    contentsOf([
      { role: "assistant", content: "a" },
      { role: "assistant", content: "b" },
    ]),
  ).toEqual([
    { role: "user", parts: [{ text: "Begin." }] },
    { role: "model", parts: [{ text: "a" }, { text: "b" }] },
    { role: "user", parts: [{ text: "Continue." }] },
  ]);
  expect(contentsOf([{ role: "user", content: "" }])).toEqual([
    { role: "user", parts: [{ text: "Begin." }] },
  ]);
  const alone = geminiSent({ messages: [{ role: "system", content: "Say hello." }] });
  expect(alone).toMatchObject({ contents: [{ role: "user", parts: [{ text: "Say hello." }] }] });
  expect(alone).not.toHaveProperty("systemInstruction");
  expect(
    contentsOf([
      { role: "assistant", content: null, refusal: "No." },
      { role: "user", content: "Please." },
    ]),
  ).toEqual([
    { role: "user", parts: [{ text: "Begin." }] },
    { role: "model", parts: [{ text: "No." }] },
    { role: "user", parts: [{ text: "Please." }] },
  ]);
});

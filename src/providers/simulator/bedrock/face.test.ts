// The simulated Bedrock rejects what the vendor rejects, so that a codec that passes here passes there.
import { expect, test } from "bun:test";
import { samplePdf } from "../../../lib/pdf.fixtures.ts";
import { FaceRefusal } from "../face.ts";
import { converse } from "./face.ts";
import { simulatedSignature } from "./signature.ts";

const PATH = "/bedrock/model/anthropic.claude%3A0/converse";
const KEY = { authorization: "Bearer key-1" };
const SIGNED = {
  "x-amz-date": "20261123T010203Z",
  authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE1234567/20261123/us-east-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=${"a".repeat(64)}`,
};

const user = (...content: object[]): object => ({ role: "user", content });
const model = (...content: object[]): object => ({ role: "assistant", content });
const says = { text: "hi" };
const use = (toolUseId: string): object => ({ toolUse: { toolUseId, name: "weather", input: {} } });
const result = (toolUseId: string): object => ({ toolResult: { toolUseId, content: [{ text: "rain" }] } });
const thought = (text: string, signature = simulatedSignature(text)): object => ({
  reasoningContent: { reasoningText: { text, signature } },
});
const toolConfig = { tools: [{ toolSpec: { name: "weather", inputSchema: { json: { type: "object" } } } }] };
const thinking = {
  inferenceConfig: { maxTokens: 4096 },
  additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 2048 } },
};

const PDF = samplePdf({ pages: 2 });
const document = (name: string, bytes = PDF, format = "pdf"): object => ({
  document: { format, name, source: { bytes: bytes.toString("base64") } },
});

const point = (ttl?: string): object => ({ cachePoint: { type: "default", ...(ttl && { ttl }) } });

/** Returns the complaint about a body; null if it is accepted. */
function said(body: object, headers: Record<string, string> = KEY, path = PATH): string | null {
  try {
    converse.hear(body, path, headers);
    return null;
  } catch (error) {
    if (error instanceof FaceRefusal) return `${error.about.status} ${error.message}`;
    throw error;
  }
}

test("a sound conversation is heard, with a key or a signature", () => {
  const messages = [user(says), model(thought("Hm."), use("a")), user(result("a"))];
  for (const headers of [KEY, SIGNED])
    expect(said({ messages, toolConfig, ...thinking }, headers)).toBeNull();
  const { asked } = converse.hear({ messages, toolConfig, ...thinking }, `${PATH}-stream`, KEY);
  expect(asked).toMatchObject({
    model: "anthropic.claude:0",
    stream: true,
    max_tokens: 4096,
    reasoning_effort: "medium",
  });
  expect(asked.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
});

test("documents are read by the page", () => {
  const { asked } = converse.hear(
    { messages: [user(says, document("a (2)"), document("b [c]-d", samplePdf({ packed: true })))] },
    PATH,
    KEY,
  );
  expect(asked.documentTokens).toBe(3 * 258);
  const nothing = document("a", Buffer.from("%PDF-1.7"));
  expect(() => converse.hear({ messages: [user(says, nothing)] }, PATH, KEY)).toThrow("no pages");
});

test.each<[string, object, string]>([
  ["the model speaks first", { messages: [model(says), user(says)] }, "must start with a user message"],
  ["the model speaks last", { messages: [user(says), model(says)] }, "must end with a user message"],
  ["a role twice", { messages: [user(says), user(says)] }, "must alternate"],
  ["a blank text", { messages: [user({ text: " " })] }, "is blank"],
  ["no content", { messages: [user()] }, "validation error"],
  ["an unknown field", { messages: [user(says)], stream: true }, "validation error"],
  ["a document without a word", { messages: [user(document("a"))] }, "have a text block"],
  [
    "a document of the model",
    { messages: [user(says), model(says, document("a")), user(says)] },
    "the user's",
  ],
  ["a name twice", { messages: [user(says, document("a"), document("a"))] }, "must be unique"],
  ["a name with a dot", { messages: [user(says, document("a.pdf"))] }, "validation error"],
  ["a name with two blanks", { messages: [user(says, document("a  b"))] }, "validation error"],
  ["a document of no format", { messages: [user(says, document("a", PDF, "ps"))] }, "validation error"],
  [
    "six documents",
    { messages: [user(says, ...["a", "b", "c", "d", "e", "f"].map((name) => document(name)))] },
    "more than 5",
  ],
  [
    "a document above its size",
    { messages: [user(says, document("a", Buffer.concat([PDF, Buffer.alloc(4_500_000)])))] },
    "exceeds 4.5 MB",
  ],
  ["a mark on nothing", { messages: [user(point())] }, "must follow what it keeps"],
  ["two marks on one text", { messages: [user(says, point(), point())] }, "must follow what it keeps"],
  [
    "five marks",
    { messages: [user(...Array.from({ length: 5 }, () => [says, point()]).flat())] },
    "maximum of 4",
  ],
  [
    "an hour behind five minutes",
    { system: [says, point("5m")], messages: [user(says, point("1h"))] },
    "must not come after",
  ],
  [
    "a result that is missing",
    { messages: [user(says), model(use("a")), user(says)], toolConfig },
    "Expected toolResult",
  ],
  ["a result that nobody asked for", { messages: [user(result("a"))], toolConfig }, "exceeds"],
  [
    "calls without tools",
    { messages: [user(says), model(use("a")), user(result("a"))] },
    "toolConfig field must be defined",
  ],
  [
    "a signature of elsewhere",
    { messages: [user(says), model(thought("Hm.", "x"), use("a")), user(result("a"))], toolConfig },
    "Invalid `signature`",
  ],
  [
    "a text that was changed",
    {
      messages: [user(says), model(thought("Hm!", simulatedSignature("Hm.")), use("a")), user(result("a"))],
      toolConfig,
    },
    "Invalid `signature`",
  ],
  [
    "thinking without its thoughts",
    { messages: [user(says), model(use("a")), user(result("a"))], toolConfig, ...thinking },
    "found `tool_use`",
  ],
  [
    "a budget above the maximum",
    { messages: [user(says)], ...thinking, inferenceConfig: { maxTokens: 2048 } },
    "must be greater",
  ],
  [
    "thinking beside a temperature",
    { messages: [user(says)], ...thinking, inferenceConfig: { maxTokens: 4096, temperature: 0.5 } },
    "`temperature`",
  ],
  [
    "thinking beside a demanded tool",
    { messages: [user(says)], toolConfig: { ...toolConfig, toolChoice: { any: {} } }, ...thinking },
    "forces tool use",
  ],
])("400: %s", (_, body, words) => {
  const refused = said(body);
  expect(refused).toStartWith("400 ");
  expect(refused).toContain(words);
});

test.each<[model: string, ttl: string, where: "text" | "tool" | "result", refused: boolean]>([
  ["us.anthropic.claude-opus-4-5-20251101-v1:0", "1h", "text", false],
  ["us.anthropic.claude-opus-4-5-20251101-v1:0", "5m", "tool", false],
  ["us.anthropic.claude-opus-4-5-20251101-v1:0", "5m", "result", false],
  ["anthropic.claude-opus-4-20250514-v1:0", "5m", "text", false],
  ["anthropic.claude-opus-4-20250514-v1:0", "1h", "text", true],
  ["amazon.nova-pro-v1:0", "5m", "text", false],
  ["amazon.nova-pro-v1:0", "1h", "text", true],
  ["amazon.nova-pro-v1:0", "5m", "tool", true],
  ["amazon.nova-pro-v1:0", "5m", "result", true],
  ["meta.llama4-v1:0", "5m", "text", true],
])("%s, a mark for %s on a %s: refused %p", (name, ttl, where, refused) => {
  const at = (place: typeof where): object[] => (place === where ? [point(ttl)] : []);
  const body = {
    messages: [user(says, ...at("text")), model(use("a")), user(result("a"), ...at("result"))],
    toolConfig: { tools: [...toolConfig.tools, ...at("tool")] },
  };
  const answer = said(body, KEY, `/bedrock/model/${encodeURIComponent(name)}/converse`);
  expect(answer !== null).toBe(refused);
});

test.each<[string, Record<string, string>]>([
  ["none", {}],
  ["a key in another header", { "x-api-key": "k" }],
  ["another scheme", { authorization: "Basic a2V5" }],
  [
    "a signature of another service",
    { ...SIGNED, authorization: SIGNED.authorization.replace("/bedrock/", "/s3/") },
  ],
  ["a signature without its host", { ...SIGNED, authorization: SIGNED.authorization.replace("host;", "") }],
  ["a signature of another day", { ...SIGNED, "x-amz-date": "20261124T010203Z" }],
  ["a signature without its date", { authorization: SIGNED.authorization }],
])("403: a proof that is %s", (_, headers) => {
  expect(said({ messages: [user(says)] }, headers)).toStartWith("403 ");
});

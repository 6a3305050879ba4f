import { expect, test } from "bun:test";
import {
  bodyOf,
  bodyWith,
  offer,
  refusalOf,
  tool,
  user,
  verdictAt,
  parsed,
} from "../gateway/formats/chat-completions/chat-request.fixtures.ts";
import { FIELD_SAMPLES } from "../domain/request-fields.fixtures.ts";
import { OPTIONAL_FIELDS } from "../domain/request-fields.ts";
import { parseEmbeddingsRequest } from "../gateway/formats/embeddings/parse-embeddings-request.ts";
import { filePart, samplePdf } from "../lib/pdf.fixtures.ts";
import { fitToRelease as fitTo } from "./fit.ts";

const fitToRelease = (
  request: Parameters<typeof fitTo>[0],
  release: Parameters<typeof fitTo>[1],
): ReturnType<typeof fitTo> => fitTo(request, release, { fields: OPTIONAL_FIELDS });

const picture = (url: string): unknown =>
  bodyOf(
    user("a"),
    user([
      { type: "text", text: "what?" },
      { type: "image_url", image_url: { url } },
    ]),
  );
const INLINE = "data:image/png;base64,aaaa";
const REMOTE = "https://example.com/a.png";
const jsonSchema = { type: "json_schema", json_schema: { name: "a", schema: {} } };

/** Plain fields that require a capability. */
const CLOSED_FIELDS = FIELD_SAMPLES.flatMap(([name, { given, needs }]) => {
  if (needs === undefined) return [];
  const { offered, code } = needs;
  return [{ name, body: bodyWith({ [name]: given }), verdict: `${code} ${name}`, offered }];
});

test("a capability is refused unless the release offers it", () => {
  for (const [body, verdict, capability] of [
    [bodyWith({ tools: [tool()] }), "unsupported_value tools", { tools: true }],
    [bodyWith({ response_format: jsonSchema }), "unsupported_value response_format", { json_schema: true }],
    [
      bodyWith({ response_format: { type: "json_object" } }),
      "unsupported_value response_format",
      { json_schema: true },
    ],
    [bodyWith({ n: 2 }), "unsupported_value n", { max_n: 2 }],
    ...CLOSED_FIELDS.map(({ body, verdict, offered }) => [body, verdict, offered] as const),
    [picture(INLINE), "unsupported_value messages[1].content[1]", { images: true }],
  ] as const) {
    expect(verdictAt(body, offer())).toBe(verdict);
    expect(verdictAt(body, offer(capability))).toBe("accepted");
  }
  expect(verdictAt(bodyWith({ n: 1_000_000_000 }), offer({ max_n: 4 }))).toBe("unsupported_value n");
});

test("a capability that the release's provider lacks is refused by name", () => {
  const every = CLOSED_FIELDS.map(({ offered }) => offered);
  const all = offer(Object.assign({ json_schema: true, max_n: 4 }, ...every));
  for (const [body, name, verdict] of [
    [bodyWith({ n: 2 }), "n", "unsupported_value n"],
    ...CLOSED_FIELDS.map(({ body, name, verdict }) => [body, name, verdict] as const),
    [
      bodyWith({ response_format: { type: "json_object" } }),
      "response_format",
      "unsupported_value response_format",
    ],
  ] as const) {
    const fields = OPTIONAL_FIELDS.filter((field) => field !== name);
    const { code, param } = refusalOf(() => fitTo(parsed(body), all, { fields }));
    expect(`${code} ${param}`).toBe(verdict);
    expect(() => fitTo(parsed(body), all, { fields: OPTIONAL_FIELDS })).not.toThrow();
  }
});

test("of several missing capabilities the first in this order is refused, wherever it is in the body", () => {
  const body = bodyWith({
    logit_bias: { "1": 2 },
    logprobs: true,
    n: 2,
    response_format: { type: "json_object" },
    tools: [tool()],
  });
  let offered = {};
  for (const [param, more] of [
    ["tools", { tools: true }],
    ["response_format", { json_schema: true }],
    ["n", { max_n: 2 }],
    ["logprobs", { logprobs: true }],
    ["logit_bias", { logit_bias: true }],
  ] as const) {
    expect(refusalOf(() => fitToRelease(parsed(body), offer(offered))).param).toBe(param);
    offered = { ...offered, ...more };
  }
  expect(verdictAt(body, offer(offered))).toBe("accepted");
});

test("image addresses need the release's permission, inline images do not", () => {
  const url = "unsupported_value messages[1].content[1].image_url.url";
  expect(verdictAt(picture(REMOTE), offer({ images: true }))).toBe(url);
  expect(verdictAt(picture(REMOTE), offer({ images: true }, { remoteImages: true }))).toBe("accepted");
});

const withFiles = (...pdfs: Buffer[]): unknown => bodyOf(user("a"), user(pdfs.map((pdf) => filePart(pdf))));
const FILES = offer({ files: true }, { filePagesMax: 20 });
const TO_FILES = { fields: OPTIONAL_FIELDS, files: true };

test("a setting sent to every model is ignored where no modes are published, else it means the default", () => {
  const wishing = (hint: boolean) => ({
    ...parsed(bodyWith({})),
    reasoning: { kind: "on" as const, param: "thinking", ...(hint && { hint: true as const }) },
  });
  const quiet = offer({}, { reasoning: { modes: ["none", "low"], default: "none" } });
  expect(fitToRelease(wishing(true), offer()).reasoningEffort).toBeNull();
  expect(fitToRelease(wishing(true), quiet).reasoningEffort).toBe("none");
  for (const release of [offer(), quiet])
    expect(refusalOf(() => fitToRelease(wishing(false), release)).param).toBe("thinking");
});

test("a file is refused if the release offers none or its provider takes none", () => {
  const body = withFiles(samplePdf());
  expect(verdictAt(body, offer())).toBe("unsupported_value messages[1].content[0]");
  expect(verdictAt(body, FILES)).toBe("accepted");
  expect(refusalOf(() => fitToRelease(parsed(body), FILES)).param).toBe("messages[1].content[0]");
});

test("a file has countable pages, at most as many as its release publishes", () => {
  for (const packed of [false, true]) {
    expect(verdictAt(withFiles(samplePdf({ pages: 20, packed })), FILES)).toBe("accepted");
    const { code, message, param } = refusalOf(() =>
      fitTo(parsed(withFiles(samplePdf(), samplePdf({ pages: 21, packed }))), FILES, TO_FILES),
    );
    expect([code, param]).toEqual(["unsupported_value", "messages[1].content[1].file.file_data"]);
    expect(message).toContain("has 21 pages, but model `base-preview-v1` takes files of at most 20 pages");
  }
  const unreadable = withFiles(Buffer.from("%PDF-1.7 and nothing"));
  expect(verdictAt(unreadable, FILES)).toBe("invalid_request messages[1].content[0].file.file_data");
});

test("a request has at most twenty files, across all messages", () => {
  const some = (count: number): unknown[] => Array.from({ length: count }, () => filePart());
  expect(verdictAt(bodyOf(user(some(2)), user(some(18))), FILES)).toBe("accepted");
  expect(verdictAt(bodyOf(user(some(2)), user(some(19))), FILES)).toBe(
    "unsupported_value messages[1].content[18]",
  );
});

test("temperature is refused above the provider's upper end, never lowered; else the release's default is sent", () => {
  const hot = parsed(bodyWith({ temperature: 1.5 }));
  expect(fitToRelease(hot, offer()).temperature).toBe(1.5);
  expect(verdictAt(bodyWith({ temperature: 1.5 }), offer(), 1)).toBe("decimal_above_max_value temperature");
  expect(verdictAt(bodyWith({ temperature: 1 }), offer(), 1)).toBe("accepted");
  const plain = parsed(bodyWith());
  expect(fitToRelease(plain, offer({}, { defaults: { temperature: 0.7 } })).temperature).toBe(0.7);
  expect(fitToRelease(plain, offer()).temperature).toBeNull();
  const zero = parsed(bodyWith({ temperature: 0 }));
  expect(fitToRelease(zero, offer({}, { defaults: { temperature: 0.7 } })).temperature).toBe(0);
});

const MODES: Record<string, { modes: string[]; default: string } | null> = {
  none: null,
  all: { modes: ["none", "low", "high"], default: "low" },
  always: { modes: ["low", "high"], default: "high" },
  rarely: { modes: ["none", "high"], default: "none" },
};

const EFFORTS: [fields: Record<string, unknown>, modes: keyof typeof MODES, sent: string | null][] = [
  [{}, "none", null],
  [{}, "all", "low"],
  [{}, "rarely", "none"],
  [{ reasoning_effort: "high" }, "all", "high"],
  [{ reasoning_effort: "none" }, "all", "none"],
  [{ reasoning: { effort: "low" } }, "always", "low"],
  [{ enable_thinking: true }, "always", "high"],
  [{ thinking: { type: "disabled" } }, "all", "none"],
  [{ enable_thinking: true, reasoning_effort: "high" }, "rarely", "high"],
];

for (const [fields, modes, sent] of EFFORTS) {
  test(`${JSON.stringify(fields)} on ${JSON.stringify(MODES[modes])} sends ${sent}`, () => {
    const release = offer({}, { reasoning: MODES[modes] ?? null });
    expect(fitToRelease(parsed(bodyWith(fields)), release).reasoningEffort).toBe(sent);
  });
}

const CLOSED: [fields: Record<string, unknown>, modes: keyof typeof MODES, param: string][] = [
  [{ reasoning_effort: "medium" }, "all", "reasoning_effort"],
  [{ reasoning_effort: "HIGH" }, "all", "reasoning_effort"],
  [{ reasoning_effort: "" }, "all", "reasoning_effort"],
  [{ reasoning_effort: "none" }, "always", "reasoning_effort"],
  [{ reasoning_effort: "low" }, "none", "reasoning_effort"],
  [{ reasoning: { effort: "x".repeat(1000) } }, "all", "reasoning.effort"],
  [{ enable_thinking: false }, "always", "enable_thinking"],
  [{ enable_thinking: false }, "none", "enable_thinking"],
  [{ thinking: { type: "enabled" } }, "rarely", "thinking.type"],
];

for (const [fields, modes, param] of CLOSED) {
  test(`${JSON.stringify(fields).slice(0, 60)} on ${JSON.stringify(MODES[modes])} is refused and told the modes`, () => {
    const release = offer({}, { reasoning: MODES[modes] ?? null });
    const refusal = refusalOf(() => fitToRelease(parsed(bodyWith(fields)), release));
    expect([refusal.code, refusal.param]).toEqual(["unsupported_value", param]);
    for (const mode of MODES[modes]?.modes ?? []) expect(refusal.message).toContain(`"${mode}"`);
    expect(refusal.message.length).toBeLessThan(250);
  });
}

test("texts and vectors: each release returns one of them, from a provider that supports it", () => {
  const vectors = parseEmbeddingsRequest({ model: "m", input: "Hi" }).request;
  const words = parsed(bodyWith());
  const speaks = ["openai-embeddings"] as const;
  const fit = (request: typeof words, embeddings: boolean, also: { speaks?: typeof speaks } = { speaks }) =>
    fitTo(request, offer({ embeddings }), { fields: OPTIONAL_FIELDS, ...also });
  expect(() => fit(words, false)).not.toThrow();
  expect(() => fit(vectors, true)).not.toThrow();
  for (const [refused, says] of [
    [() => fit(words, true), "/v1/embeddings"],
    [() => fit(vectors, false), "does not make embeddings"],
    [() => fit(vectors, true, {}), "a provider without embeddings"],
  ] as const) {
    const { code, param, message } = refusalOf(refused);
    expect([code, param]).toEqual(["unsupported_value", "model"]);
    expect(message).toContain(says);
  }
});

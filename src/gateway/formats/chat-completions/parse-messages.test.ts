import { expect, test } from "bun:test";
import { filePart, samplePdf } from "../../../lib/pdf.fixtures.ts";
import { bodyOf, call, refusalOf, user, parsed, verdict } from "./chat-request.fixtures.ts";

const text = (value: unknown = "t"): Record<string, unknown> => ({ type: "text", text: value });
const image = (url: unknown): Record<string, unknown> => ({ type: "image_url", image_url: { url } });
const assistant = (fields: Record<string, unknown>): Record<string, unknown> => ({
  role: "assistant",
  ...fields,
});
const answer = (id: unknown = "call_1"): Record<string, unknown> => ({
  role: "tool",
  content: "sunny",
  tool_call_id: id,
});

const { file: PDF } = filePart();
const BASE64 = samplePdf().toString("base64");

/** The last message of the refused conversation, and its verdict below `messages[0]`. */
const REFUSED: [message: unknown, verdict: string][] = [
  [7, "invalid_request messages[0]"],
  [null, "invalid_request messages[0]"],
  [[], "invalid_request messages[0]"],
  [{ content: "x" }, "invalid_request messages[0].role"],
  [{ role: 1, content: "x" }, "invalid_request messages[0].role"],
  [{ role: "robot", content: "x" }, "unsupported_value messages[0].role"],
  [{ role: "function", name: "f", content: "x" }, "unsupported_value messages[0].role"],
  [{ role: "user" }, "invalid_request messages[0].content"],
  [{ role: "user", content: null }, "invalid_request messages[0].content"],
  [{ role: "system", content: null }, "invalid_request messages[0].content"],
  [user(5), "invalid_request messages[0].content"],
  [user({}), "invalid_request messages[0].content"],
  [user([]), "invalid_request messages[0].content"],
  [user([1, 2, 3]), "raw_token_ids_not_allowed messages[0].content"],
  [user(["text"]), "invalid_request messages[0].content[0]"],
  [user([text(), null]), "invalid_request messages[0].content[1]"],
  [user([{ text: "t" }]), "invalid_request messages[0].content[0].type"],
  [user([text(7)]), "invalid_request messages[0].content[0].text"],
  [user([text(null)]), "invalid_request messages[0].content[0].text"],
  [user([{ type: "input_audio", input_audio: {} }]), "unsupported_value messages[0].content[0].type"],
  [
    user([{ type: "file", file: { file_id: "file-1" } }]),
    "unsupported_parameter messages[0].content[0].file.file_id",
  ],
  [user([{ type: "file", file: "report.pdf" }]), "invalid_request messages[0].content[0].file"],
  [user([{ type: "file" }]), "invalid_request messages[0].content[0].file"],
  [user([{ type: "file", file: {} }]), "invalid_request messages[0].content[0].file.file_data"],
  [
    user([{ type: "file", file: { ...PDF, filename: 7 } }]),
    "invalid_request messages[0].content[0].file.filename",
  ],
  [
    user([{ type: "file", file: { ...PDF, filename: "n".repeat(257) } }]),
    "string_above_max_length messages[0].content[0].file.filename",
  ],
  [{ role: "system", content: [filePart()] }, "unsupported_value messages[0].content[0].type"],
  [assistant({ content: [filePart()] }), "unsupported_value messages[0].content[0].type"],
  [user([{ type: "refusal", refusal: "no" }]), "unsupported_value messages[0].content[0].type"],
  [
    { role: "system", content: [image("https://example.com/a")] },
    "unsupported_value messages[0].content[0].type",
  ],
  [assistant({ content: [image("https://example.com/a")] }), "unsupported_value messages[0].content[0].type"],
  [
    user([{ type: "image_url", image_url: "https://example.com/a" }]),
    "invalid_request messages[0].content[0].image_url",
  ],
  [user([image(undefined)]), "invalid_request messages[0].content[0].image_url.url"],
  [
    user([{ type: "image_url", image_url: { url: "https://example.com/a", detail: "ultra" } }]),
    "unsupported_value messages[0].content[0].image_url.detail",
  ],
  [{ role: "user", content: "x", name: 7 }, "invalid_request messages[0].name"],
  [assistant({}), "invalid_request messages[0].content"],
  [assistant({ content: null }), "invalid_request messages[0].content"],
  [assistant({ content: null, tool_calls: [] }), "invalid_request messages[0].content"],
  [assistant({ content: "x", audio: { id: "a" } }), "unsupported_value messages[0].audio"],
  [assistant({ content: "x", refusal: 1 }), "invalid_request messages[0].refusal"],
  [assistant({ content: "x", reasoning_content: [] }), "invalid_request messages[0].reasoning_content"],
  [assistant({ tool_calls: {} }), "invalid_request messages[0].tool_calls"],
  [assistant({ tool_calls: [7] }), "invalid_request messages[0].tool_calls[0]"],
  [assistant({ tool_calls: [{ ...call(), id: undefined }] }), "invalid_request messages[0].tool_calls[0].id"],
  [assistant({ tool_calls: [{ ...call(), id: "" }] }), "invalid_request messages[0].tool_calls[0].id"],
  [
    assistant({ tool_calls: [{ ...call(), type: "custom" }] }),
    "unsupported_value messages[0].tool_calls[0].type",
  ],
  [
    assistant({ tool_calls: [{ ...call(), function: null }] }),
    "invalid_request messages[0].tool_calls[0].function",
  ],
  [
    assistant({ tool_calls: [{ ...call(), function: { name: "f", arguments: {} } }] }),
    "invalid_request messages[0].tool_calls[0].function.arguments",
  ],
  [
    assistant({ tool_calls: [{ ...call(), function: { arguments: "{}" } }] }),
    "invalid_request messages[0].tool_calls[0].function.name",
  ],
  [
    assistant({ tool_calls: [{ ...call(), extra_content: "x" }] }),
    "invalid_request messages[0].tool_calls[0].extra_content",
  ],
  [{ role: "tool", content: "x" }, "invalid_request messages[0].tool_call_id"],
  [{ role: "tool", content: "x", tool_call_id: 1 }, "invalid_request messages[0].tool_call_id"],
  [answer("call_9"), "invalid_request messages[0].tool_call_id"],
];

for (const [message, expected] of REFUSED) {
  test(`${JSON.stringify(message).slice(0, 100)} is refused: ${expected}`, () => {
    expect(verdict(bodyOf(message))).toBe(expected);
    const shifted = expected.replace("messages[0]", "messages[1]");
    expect(verdict(bodyOf(user(), message))).toBe(shifted);
  });
}

test("a file is a PDF inline, in base64 to its last character; nothing else is, and no address is fetched", () => {
  const verdictOf = (file_data: unknown): string =>
    verdict(bodyOf(user([{ type: "file", file: { filename: "a.pdf", file_data } }])));
  const at = "messages[0].content[0].file.file_data";
  for (const [data, code] of [
    [7, "invalid_request"],
    ["", "invalid_request"],
    [BASE64, "invalid_request"],
    ["https://example.com/a.pdf", "invalid_request"],
    ["data:application/pdf;base64,", "invalid_request"],
    ["data:application/pdf," + BASE64, "invalid_request"],
    ["data:application/pdf;name=a.pdf;base64," + BASE64, "invalid_request"],
    ["data:;base64," + BASE64, "unsupported_value"],
    ["data:text/plain;base64," + BASE64, "unsupported_value"],
    ["data:application/msword;base64," + BASE64, "unsupported_value"],
    [`data:application/pdf;base64,${btoa("GIF89a")}`, "invalid_request"],
    [`data:application/pdf;base64,${btoa(" %PDF-1.7")}`, "invalid_request"],
    [`data:application/pdf;base64,${BASE64}A`, "invalid_request"],
    [`data:application/pdf;base64,${BASE64} AAA`, "invalid_request"],
    [`data:application/pdf;base64,${BASE64.slice(0, 8)}====`, "invalid_request"],
    [`data:application/pdf;base64,${BASE64.slice(0, 8)}-_-_`, "invalid_request"],
    [`data:application/pdf;base64,${BASE64.slice(0, 8)}A=AA`, "invalid_request"],
  ] as const)
    expect([data, verdictOf(data)]).toEqual([data, `${code} ${at}`]);
  for (const head of ["data:application/pdf;base64,", "DATA:Application/PDF;Base64,"])
    expect(verdictOf(head + BASE64)).toBe("accepted");
});

test("files are counted, keep their names, and have one where the caller gives none", () => {
  const { file_data } = PDF;
  const { messages, files, images } = parsed(
    bodyOf(
      user([text(), filePart(), { type: "file", file: { file_data: file_data.replace("data", "DATA") } }]),
      user([
        {
          type: "file",
          file: { file_data, filename: " ", format: "pdf" },
          cache_control: { type: "ephemeral" },
        },
      ]),
    ),
  );
  expect({ files, images }).toEqual({ files: 3, images: 0 });
  const nameless = { type: "file", file: { filename: "document.pdf", file_data } };
  expect(messages.flatMap(({ content }): unknown => content)).toEqual([
    text(),
    { type: "file", file: { filename: "report.pdf", file_data } },
    nameless,
    { ...nameless, cache_control: { type: "ephemeral" } },
  ]);
});

test("image addresses that are not inline and not on a public https name are refused, and never fetched", () => {
  for (const url of [
    "",
    "a.png",
    "http://example.com/a.png",
    "http://169.254.169.254/",
    "https://169.254.169.254/latest",
    "https://2852039166/",
    "https://0xa9.0xfe.0xa9.0xfe/",
    "https://0251.0376.0251.0376/",
    "https://127.1/",
    "https://[::1]/",
    "https://[::ffff:169.254.169.254]/",
    "https://example.com:8443/",
    "https://user:pass@example.com/",
    "https://user@example.com/",
    "https://localhost/",
    "https://localhost./",
    "https://metadata/",
    "https://metadata.google.internal/",
    "https://printer.local/",
    "https://a..com/",
    "https://example.com../",
    "https://1.2.3.4.5/",
    "file:///etc/passwd",
    "ftp://example.com/a",
    "javascript:alert(1)",
    "data:text/html;base64,PGI+",
    "data:image/png,abc",
    "data:image/png;base64,",
    "//example.com/a.png",
  ])
    expect([url, verdict(bodyOf(user([image(url)])))]).toEqual([
      url,
      "invalid_request messages[0].content[0].image_url.url",
    ]);
  for (const url of [
    "https://example.com/a.png?x=1#y",
    "HTTPS://EXAMPLE.COM./a",
    "https://example.com:443/",
    "https://bücher.example.org/",
    "https://a.xn--p1ai/",
    "data:image/png;base64,iVBORw0KGgo=",
    "DATA:image/svg+xml;charset=utf-8;base64,PHN2Zz4=",
  ])
    expect([url, verdict(bodyOf(user([image(url)])))]).toEqual([url, "accepted"]);
});

test("array content works for every role, and equal roles in a row are valid", () => {
  const messages = [
    { role: "system", content: [text()] },
    { role: "system", content: "again" },
    { role: "developer", content: [text()], name: "dev" },
    user([text(), image("data:image/png;base64,aaaa")]),
    user("again"),
    assistant({ content: [text(), { type: "refusal", refusal: "no" }] }),
    assistant({ content: "more", reasoning_content: "hm", name: "a" }),
    { role: "system", content: "late" },
  ];
  expect(parsed(bodyOf(...messages)).messages).toEqual(messages as never);
});

test("a tools round trip keeps ids, arguments as text, and provider state", () => {
  const calls = [
    { ...call("a"), extra_content: { google: { thought_signature: "x" } } },
    { id: "b", type: "function", function: { name: "f", arguments: "not json" } },
  ];
  const messages = [
    user(),
    assistant({ content: null, tool_calls: calls }),
    answer("b"),
    answer("a"),
    user(),
  ];
  expect(parsed(bodyOf(...messages)).messages).toEqual(messages as never);
});

test("a call that no later tool message answers is refused at the assistant message that made it", () => {
  const calls = assistant({ content: null, tool_calls: [call("a"), call("b")] });
  expect(verdict(bodyOf(user(), calls))).toBe("invalid_request messages[1].role");
  expect(verdict(bodyOf(user(), calls, answer("a")))).toBe("invalid_request messages[1].role");
  expect(verdict(bodyOf(user(), calls, answer("a"), user(), answer("b")))).toBe("accepted");
});

test("an answer must follow its call: a tool message before it, or of another id, is refused", () => {
  const calls = assistant({ content: null, tool_calls: [call("a")] });
  expect(verdict(bodyOf(answer("a"), calls))).toBe("invalid_request messages[0].tool_call_id");
  expect(verdict(bodyOf(calls, answer("a"), answer("z")))).toBe("invalid_request messages[2].tool_call_id");
});

test("ids may come back in later turns, as some models count from zero each time", () => {
  const turn = [assistant({ content: null, tool_calls: [call("call_0")] }), answer("call_0")];
  expect(verdict(bodyOf(...turn, ...turn))).toBe("accepted");
  expect(verdict(bodyOf(...turn, turn[0]))).toBe("invalid_request messages[2].role");
});

test("our own answers can be sent back: null fields, a refusal without content", () => {
  const echoed = assistant({
    content: "Hi",
    refusal: null,
    tool_calls: null,
    reasoning_content: null,
    audio: null,
  });
  const refused = assistant({ content: null, refusal: "I can't." });
  expect(parsed(bodyOf(echoed, refused, user())).messages.slice(0, 2)).toEqual([
    { role: "assistant", content: "Hi" },
    { role: "assistant", content: null, refusal: "I can't." },
  ]);
});

test("unknown keys inside messages, parts and calls are dropped", () => {
  const body = bodyOf(
    {
      role: "user",
      content: [{ ...text(), cache_control: {}, x: 1 }],
      id: "m1",
      annotations: [],
      prefix: true,
    },
    assistant({
      tool_calls: [{ ...call("a"), index: 0, function: { name: "f", arguments: "", x: 1 } }],
      weight: 1,
    }),
    { ...answer("a"), name: "weather", is_error: true },
  );
  expect(parsed(body).messages).toEqual([
    { role: "user", content: [{ type: "text", text: "t" }] },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "" } }],
    },
    { role: "tool", content: "sunny", tool_call_id: "a" },
  ]);
});

test("control tokens and stream syntax in text are plain text", () => {
  for (const content of ["<|endoftext|>", "<|im_start|>system", "\n\ndata: [DONE]", "", " "])
    expect(parsed(bodyOf(user(content))).messages).toEqual([{ role: "user", content }]);
});

test("a refusal tells what to do next", () => {
  const { message } = refusalOf(() => parsed(bodyOf(user(), assistant({ tool_calls: [call("a")] }))));
  expect(message).toContain("Add one");
});

// What holds across surfaces: a stored stream shows by itself which one printed it.
import { expect, test } from "bun:test";
import { samplePdf } from "../../lib/pdf.fixtures.ts";
import { fitToRelease } from "../../releases/fit.ts";
import { offer, refusalOf } from "./chat-completions/chat-request.fixtures.ts";
import { FORMATS } from "./formats.ts";

/** The smallest request of each, by its path. */
const ASKED: Record<string, object> = {
  "/v1/chat/completions": { model: "m", messages: [{ role: "user", content: "Hi" }], stream: true },
  "/v1/completions": { model: "m", prompt: "Hi", stream: true },
  "/v1/messages": { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }], stream: true },
  "/v1/responses": { model: "m", input: "Hi", stream: true },
};

/** Vectors are not streamed. */
const STREAMING = FORMATS.filter(({ path }) => path !== "/v1/embeddings");

test.each(STREAMING)(
  "a keyed stream of $path is known by its beginning, and to no other surface",
  (format) => {
    const { printer } = format.parse(ASKED[format.path], () => null);
    const head = { requestId: "req_019a0000000000000000000000000000", created: 1, model: "m" };
    const stream = printer.stream(head, true);
    const begun = stream.begin(`{"request_id":"${head.requestId}"}`);
    const sent = begun + stream.part({ type: "text", choice: 0, text: "Hi" });
    expect(sent).toStartWith("id: 1\n");
    expect(FORMATS.filter((one) => one.recognizes(sent)).map(({ path }) => path)).toEqual([format.path]);
  },
);

const PAGES = `data:application/pdf;base64,${samplePdf({ pages: 2 }).toString("base64")}`;
const ADDRESS = "https://example.com/a.png";
const part = (type: string, said: object) => ({ type, [type]: said });
const TEXT = { type: "text", text: "a" };
const ANSWERED = { type: "tool_result", tool_use_id: "c" };
const document = { type: "base64", media_type: "application/pdf", data: PAGES.slice(28) };

/**
 * The same question with an image and with a file, after something that shifts it among the neutral messages; and the place of
 * each.
 */
const ATTACHED: Record<
  string,
  { of: (part: object) => object; image: [object, string]; file: [object, string]; at: string }
> = {
  "/v1/chat/completions": {
    of: (one) => ({
      model: "m",
      messages: [
        { role: "system", content: "s" },
        { role: "user", content: [TEXT, one] },
      ],
    }),
    at: "messages[1].content[1]",
    image: [part("image_url", { url: ADDRESS }), ".image_url.url"],
    file: [part("file", { filename: "a.pdf", file_data: PAGES }), ".file.file_data"],
  },
  "/v1/messages": {
    of: (one) => ({
      model: "m",
      max_tokens: 9,
      system: "s",
      messages: [
        { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: {} }] },
        { role: "user", content: [TEXT, { ...ANSWERED, content: [TEXT, TEXT, one] }] },
      ],
    }),
    at: "messages[1].content[1].content[2]",
    image: [{ type: "image", source: { type: "url", url: ADDRESS } }, ".source.url"],
    file: [{ type: "document", title: "t", context: "c", source: document }, ".source.data"],
  },
  "/v1/responses": {
    of: (one) => ({
      model: "m",
      instructions: "s",
      input: [
        { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "a" }, one] },
      ],
    }),
    at: "input[1].output[1]",
    image: [{ type: "input_image", image_url: ADDRESS }, ".image_url"],
    file: [{ type: "input_file", filename: "a.pdf", file_data: PAGES }, ".file_data"],
  },
};

test.each(Object.keys(ATTACHED))(
  "what a release does not take of %s is refused where its caller wrote it",
  (path) => {
    const { of, at, image, file } = ATTACHED[path] ?? expect.unreachable();
    const format = FORMATS.find((one) => one.path === path) ?? expect.unreachable();
    const paramOf = (one: object, offered: { images?: boolean; files?: boolean }): string | null => {
      const { request } = format.parse(of(one), () => null);
      const release = offer({ tools: true, ...offered }, { filePagesMax: 1 });
      return refusalOf(() => fitToRelease(request, release, { fields: [], files: true })).param;
    };
    for (const [kind, [one, data]] of [
      ["images", image],
      ["files", file],
    ] as const) {
      expect(paramOf(one, {})).toBe(at);
      expect(paramOf(one, { [kind]: true })).toBe(at + data);
    }
  },
);

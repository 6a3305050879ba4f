// What holds between surfaces: a kept stream says itself which one printed it.
import { expect, test } from "bun:test";
import { FORMATS } from "./formats.ts";

/** The smallest request of each, by its path. */
const ASKED: Record<string, object> = {
  "/v1/chat/completions": { model: "m", messages: [{ role: "user", content: "Hi" }], stream: true },
  "/v1/completions": { model: "m", prompt: "Hi", stream: true },
  "/v1/messages": { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }], stream: true },
  "/v1/responses": { model: "m", input: "Hi", stream: true },
};

/** Vectors come whole. */
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

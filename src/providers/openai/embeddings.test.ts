import { expect, test } from "bun:test";
import { emptyRequest } from "../../domain/chat-request.ts";
import { promptTokens } from "../../pricing/tokens.ts";
import type { OutgoingBody } from "../provider.ts";
import { DIALECTS } from "./dialects.ts";
import { embeddingsBody } from "./embeddings.ts";
import { callDraft } from "./openai.fixtures.ts";
import { printedText } from "../printed-text.fixtures.ts";

const bodyOf = (body: object, fields: readonly string[] = DIALECTS.openai.fields): OutgoingBody =>
  embeddingsBody(
    callDraft({
      request: {
        ...emptyRequest(),
        native: { shape: "openai-embeddings", body: { ...body }, headers: {}, only: null },
      },
      identifiers: "user" in body ? { user: "hashed" } : {},
    }),
    fields,
  );

test("the caller's fields go out in their order, with the upstream's own name of the model and a hash of the user", () => {
  const body = bodyOf({ dimensions: 5, user: "eve", input: ["ü"], model: "mine", encoding_format: "base64" });
  const sent = printedText(body, 0);
  expect(sent).toBe(
    '{"dimensions":5,"input":["ü"],"model":"acme/upstream-model","encoding_format":"base64","user":"hashed"}',
  );
  expect([body.size.bytes, body.ignored]).toEqual([Buffer.byteLength(sent), []]);
  body.sent();
  expect(printedText(body, 0)).toBe(sent);
});

test("an upstream that knows no users is told of none", () => {
  const body = bodyOf({ input: "a", user: "eve" }, DIALECTS.bedrock.fields);
  expect([printedText(body, 0), body.ignored]).toEqual([
    '{"input":"a","model":"acme/upstream-model"}',
    ["user"],
  ]);
});

const SHARE = { organizationId: "org_1", lane: "settlement" } as const;

test.each(["o200k_base", "cl100k_base"] as const)(
  "%s: token ids are counted one by one, and bounded by their bytes",
  async (tokenizer) => {
    const ids = Array.from({ length: 1000 }, (_, id) => id % 10);
    const release = { tokenizer, imageTokensMax: null, fileTokensMax: null };
    const overhead = (await promptTokens(bodyOf({ input: "a" }), release, SHARE)) - 1;
    for (const input of [ids, [ids]]) {
      const body = bodyOf({ input });
      expect(await promptTokens(body, release, SHARE)).toBe(ids.length + overhead);
      expect(Buffer.byteLength(body.text())).toBeLessThanOrEqual(body.size.bytes);
    }
  },
);

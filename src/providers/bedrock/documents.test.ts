import { expect, test } from "bun:test";
import type { Message } from "../../domain/chat-request.ts";
import { filePart, samplePdf } from "../../lib/pdf.fixtures.ts";
import { said } from "./bedrock.fixtures.ts";

const user = (content: Message["content"]): Message => ({ role: "user", content });
const text = (words: string) => ({ type: "text" as const, text: words });
const named = (name: string) => filePart(samplePdf(), name);
const bytes = samplePdf().toString("base64");
const document = (name: string): object => ({ document: { format: "pdf", name, source: { bytes } } });

interface Sent {
  messages: { role: string; content: { document?: { name: string }; text?: string }[] }[];
}
const sent = (...messages: Message[]): Sent["messages"] =>
  (said.bodyOf({ messages, files: 1 }) as unknown as Sent).messages;
const namesOf = (...messages: Message[]): (string | undefined)[] =>
  sent(...messages).flatMap(({ content }) => content.flatMap((one) => one.document?.name ?? []));

test("a file is a document without its ending, and weighs nothing but its name", () => {
  const messages = [user([text("What is it?"), named("report.pdf")])];
  expect(sent(...messages)).toEqual([
    { role: "user", content: [{ text: "What is it?" }, document("report")] },
  ] as never);
  const prepared = said.prepared({ messages, files: 1 });
  expect(prepared.size).toMatchObject({ images: 0, files: 1 });
  expect(prepared.size.bytes).toBeLessThan(350);
  expect(prepared.text()).toContain("report");
  expect(prepared.text()).not.toContain(bytes);
});

test("names have the letters that the API allows, no two blanks in a row, and 200 characters at most", () => {
  for (const [name, plain] of [
    ["Bericht (final) [2]-b.PDF", "Bericht (final) [2]-b"],
    ["a  b\tc.pdf", "a b c"],
    ["../etc/pass_wd.pdf.pdf", "etc pass wd pdf"],
    ["漢字.pdf", "document"],
    [".pdf", "document"],
    ["x".repeat(256), "x".repeat(190)],
  ] as const)
    expect([name, namesOf(user([text("a"), named(name)]))]).toEqual([name, [plain]]);
});

test("no two documents of a request have one name, whatever their files are called", () => {
  const assistant: Message = { role: "assistant", content: "Yes." };
  expect(
    namesOf(
      user([text("a"), named("a.pdf"), named("a.PDF"), named("a (2).pdf")]),
      assistant,
      user([text("b"), named("a.pdf")]),
    ),
  ).toEqual(["a", "a (2)", "a (2) (2)", "a (3)"]);
});

test("documents that came without a word have one beside them, once for all that the user says in a row", () => {
  expect(sent(user([named("a.pdf")]), user([named("b.pdf")]))).toEqual([
    { role: "user", content: [document("a"), document("b"), { text: "(attached)" }] },
  ] as never);
  expect(sent(user([named("a.pdf")]), user("What is it?"))).toEqual([
    { role: "user", content: [document("a"), { text: "What is it?" }] },
  ] as never);
});

test("a sixth file is refused before anything is sent, in whichever turn", () => {
  const some = (count: number): Message =>
    user([text("a"), ...Array.from({ length: count }, () => named("a.pdf"))]);
  const assistant: Message = { role: "assistant", content: "Yes." };
  expect(namesOf(some(2), assistant, some(3))).toHaveLength(5);
  expect(() => sent(some(2), assistant, some(4))).toThrow("more than 5 files");
});

test("a file above the API's size is refused before anything is sent", () => {
  const fits = Buffer.concat([Buffer.from("%PDF-1.7"), Buffer.alloc(4_499_992)]);
  const larger = Buffer.concat([fits, Buffer.alloc(3)]);
  expect(() => said.prepared({ messages: [user([filePart(fits)])], files: 1 })).not.toThrow();
  expect(() => said.prepared({ messages: [user([filePart(larger)])], files: 1 })).toThrow("more than 4.5 MB");
});

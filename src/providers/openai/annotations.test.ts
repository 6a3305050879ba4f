import { expect, test } from "bun:test";
import { ANNOTATION_CHARACTERS_MAX, ANNOTATIONS_MAX, Annotations } from "./annotations.ts";

const citation = (change: object = {}): { type: string; url_citation: Record<string, unknown> } => ({
  type: "url_citation",
  url_citation: { start_index: 0, end_index: 4, url: "https://example.com/a", title: "A", ...change },
});
function listOf(...reads: unknown[][]): unknown[] {
  const annotations = new Annotations();
  for (const each of reads) annotations.read(each);
  return annotations.list;
}

test("citations add up over chunks in order, and what is repeated is told once", () => {
  const [a, b] = [citation(), citation({ start_index: 5, end_index: 9 })];
  expect(listOf([a], [a, b], [b])).toEqual([a, b]);
});

test("members that clients insist on are there, and no others", () => {
  const told = citation({ title: null, start_index: -1, end_index: 1.5, content: "a page of text" });
  expect(listOf([{ ...told, extra: 1 }])).toEqual([citation({ title: "", start_index: 0, end_index: 0 })]);
});

test.each<[string, unknown]>([
  ["no object", "x"],
  ["null", null],
  ["another type", { type: "file", file: { name: "a.pdf" } }],
  ["nothing cited", { type: "url_citation" }],
  ["a citation that is a list", { type: "url_citation", url_citation: [] }],
  ["no address", citation({ url: "" })],
  ["an address that is no text", citation({ url: 7 })],
])("%s is no citation", (_, odd) => {
  expect(listOf([odd])).toEqual([]);
});

test("their number and their characters are bounded, and what still fits is kept", () => {
  const many = Array.from({ length: ANNOTATIONS_MAX + 1 }, (_, n) => citation({ start_index: n }));
  expect(listOf(many)).toEqual(many.slice(0, ANNOTATIONS_MAX));
  const long = citation({ url: `https://example.com/${"a".repeat(ANNOTATION_CHARACTERS_MAX)}` });
  expect(listOf([citation(), long, citation({ title: "B" })])).toEqual([
    citation(),
    citation({ title: "B" }),
  ]);
  const half = (n: number): object =>
    citation({ url: `h${n}`.padEnd(ANNOTATION_CHARACTERS_MAX / 2 - 1, "a") });
  expect(listOf([half(1)], [half(2)], [half(3)])).toEqual([half(1), half(2)]);
});

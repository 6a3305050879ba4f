// What is written is a PDF, whatever its texts are: the cross-reference finds every object, and no text ends its own string.
import { expect, test } from "bun:test";
import { pdfPages } from "./pdf-pages.ts";
import { PdfWriter } from "./pdf-writer.ts";

const ODD = [
  "a (b) \\ c)",
  "株式会社 東京",
  "Ünïcode – “quoted”",
  "ŁódźZażółć",
  "\u0000\u0007\r\nendstream",
  "🦊",
  "x".repeat(900),
];

function written(texts: readonly string[]): string {
  const pdf = new PdfWriter();
  for (const [i, text] of texts.entries()) {
    if (i > 0) pdf.newPage();
    pdf.text(text, { x: 50, y: 100, width: 300 });
    pdf.text("$1.50", { x: 545, y: 100, right: true });
  }
  return Buffer.from(
    pdf.bytes(texts.join(" "), (page, of) => pdf.text(`${page} / ${of}`, { x: 50, y: 800 })),
  ).toString("latin1");
}

test("the cross-reference leads to every object, whatever the texts are", () => {
  const file = written(ODD);
  const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(file)?.[1]);
  const [, count = "0"] = /^xref\n0 (\d+)\n/.exec(file.slice(start)) ?? [];
  const offsets = [...file.slice(start).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, at]) => Number(at));
  expect(offsets).toHaveLength(Number(count) - 1);
  for (const [i, at] of offsets.entries()) expect(file.slice(at)).toStartWith(`${i + 1} 0 obj\n`);
  expect(file.match(/^endstream$/gm)).toHaveLength(ODD.length);
  expect(file).toMatch(/^[\n -~]*$/);
  expect(pdfPages(Buffer.from(file, "latin1"))).toBe(ODD.length);
});

test("what the fonts have no sign for is written plainly, and is whole in the title", () => {
  const file = written(["(Łódź) 株"]);
  expect(file).toContain("(\\050?\\363dz\\051 ?) Tj");
  expect(file).toContain(`/Title <feff${Buffer.from("(Łódź) 株", "utf16le").swap16().toString("hex")}>`);
});

test("what ends at the margin ends there: every digit is as wide as another", () => {
  const pdf = new PdfWriter();
  for (const text of ["$1.000000001", "$9.999999999", "-$1.000000000"])
    pdf.text(text, { x: 500, y: 50, right: true });
  const file = Buffer.from(pdf.bytes("t", () => {})).toString("latin1");
  const [one, nine, less] = [...file.matchAll(/Tf ([\d.]+) /g)].map(([, x]) => Number(x));
  expect(one).toBe(nine);
  expect(less).toBeLessThan(one ?? 0);
});

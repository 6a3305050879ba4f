// The output is a valid PDF, whatever the texts: the cross-reference finds every object, and no text can end
// its own string.
import { expect, test } from "bun:test";
import { inflateSync } from "node:zlib";
import { pdfPages } from "./pdf-pages.ts";
import { PdfFont, wideFont } from "./pdf-font.ts";
import { MISSING, PdfWriter } from "./pdf-writer.ts";

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

test("the cross-reference table points to every object, whatever the texts", () => {
  const file = written(ODD);
  const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(file)?.[1]);
  const [, count = "0"] = /^xref\n0 (\d+)\n/.exec(file.slice(start)) ?? [];
  const offsets = [...file.slice(start).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, at]) => Number(at));
  expect(offsets).toHaveLength(Number(count) - 1);
  for (const [i, at] of offsets.entries()) expect(file.slice(at)).toStartWith(`${i + 1} 0 obj\n`);
  expect(file.match(/^endstream$/gm)).toHaveLength(ODD.length + 2); // the font, and its characters
  expect(file).toMatch(/^[\n -~]*$/);
  expect(pdfPages(Buffer.from(file, "latin1"))).toBe(ODD.length);
});

/** The texts that a reader copies where the embedded font is used. */
function copied(file: string): string[] {
  const signs = new Map(
    [...file.matchAll(/^<([0-9a-f]{4})> <([0-9a-f]+)>$/gm)].map(([, glyph = "", sign = ""]) => [
      glyph,
      Buffer.from(sign, "hex").swap16().toString("utf16le"),
    ]),
  );
  return [...file.matchAll(/\/F4 [\d.]+ Tf [-\d.]+ [-\d.]+ Td <([0-9a-f]+)> Tj/g)].map(([, glyphs = ""]) =>
    (glyphs.match(/.{4}/g) ?? []).map((glyph) => signs.get(glyph) ?? "?").join(""),
  );
}

test("names beyond WinAnsi keep their characters, which can be copied", () => {
  const names = [
    "Łódź Zażółć gęślą jaźń",
    "Žižkov, İstanbul, Điện Biên",
    "Ελλάδα",
    "Москва, Київ",
    "Հայաստան",
    "საქართველო",
    "ﬁ → ≤ ₽",
  ];
  const file = written(names);
  expect(copied(file)).toEqual(names);
  expect(file).not.toContain("(?");
  const pdf = new PdfWriter();
  for (const name of names) pdf.text(name, { x: 50, y: 100 });
  expect(pdf.lacks).toBe(false);
});

test("the embedded font has only the glyphs in use and their parts, and is small", () => {
  const file = written(["Łódź Ǖ"]);
  const [, packed = ""] = /\/FlateDecode\] >>\nstream\n([0-9a-f]+)>\nendstream/.exec(file) ?? [];
  const cut = inflateSync(Buffer.from(packed, "hex"));
  const font = new PdfFont(new Uint8Array(cut));
  const whole = wideFont();
  for (const sign of "ŁódźǕ") {
    const glyph = whole.glyphOf(sign) ?? 0;
    expect(font.widthOf(glyph)).toBe(whole.widthOf(glyph));
    // A subset of the subset is the same: every component is present.
    expect(font.cutTo([glyph]).length).toBe(whole.cutTo([glyph]).length);
  }
  expect(file.length).toBeLessThan(30_000);
  expect(written(["plain"]).length).toBeLessThan(2_000);
});

test("a character that no font has becomes a square and is reported; the title keeps it", () => {
  const file = written(["(Łódź) 株"]);
  expect(copied(file)).toEqual([`(Łódź) ${MISSING}`]);
  for (const text of ["株式会社", "🦊", "שלום", "مرحبا", "नमस्ते", "\u202eabc"]) {
    const pdf = new PdfWriter();
    pdf.text(text, { x: 50, y: 100 });
    expect([text, pdf.lacks]).toEqual([text, true]);
  }
  expect(file).toContain(`/Title <feff${Buffer.from("(Łódź) 株", "utf16le").swap16().toString("hex")}>`);
});

test("right-aligned text ends at the margin: all digits have the same width", () => {
  const pdf = new PdfWriter();
  for (const text of ["$1.000000001", "$9.999999999", "-$1.000000000"])
    pdf.text(text, { x: 500, y: 50, right: true });
  const file = Buffer.from(pdf.bytes("t", () => {})).toString("latin1");
  const [one, nine, less] = [...file.matchAll(/Tf ([\d.]+) /g)].map(([, x]) => Number(x));
  expect(one).toBe(nine);
  expect(less).toBeLessThan(one ?? 0);
});

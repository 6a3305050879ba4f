// A small PDF writer: A4 pages with lines of text in the standard fonts, which every reader has, and rules
// between them. A text with a character that those lack (WinAnsi) is written entirely in an embedded font,
// reduced to the glyphs in use; characters that this font lacks, too, appear as a square. The document's
// title keeps every character (PDF 32000-1, 7.9.2).
import { deflateSync } from "node:zlib";
import { wideFont } from "./pdf-font.ts";

type Face = "regular" | "bold" | "mono";

const FONTS: Record<Face, { name: string; base: string }> = {
  regular: { name: "F1", base: "Helvetica" },
  bold: { name: "F2", base: "Helvetica-Bold" },
  mono: { name: "F3", base: "Courier" },
};
/** A4, in points. */
const PDF_PAGE = { width: 595, height: 842 };

/** Widths of Helvetica from space to tilde, in thousandths of the font size. */
const WIDTHS = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
  556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
  500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
  556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
  278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
const FIRST_WIDTH = 32;
/** The width of accented letters and other WinAnsi characters beyond ASCII: that of most. */
const OTHER_WIDTH = 556;
const MONO_WIDTH = 600;

/** WinAnsi codes that differ from Latin-1. */
const WIN_ANSI: Readonly<Record<string, number>> = {
  "€": 0x80,
  "…": 0x85,
  Š: 0x8a,
  Œ: 0x8c,
  Ž: 0x8e,
  "‘": 0x91,
  "’": 0x92,
  "“": 0x93,
  "”": 0x94,
  "•": 0x95,
  "–": 0x96,
  "—": 0x97,
  "™": 0x99,
  š: 0x9a,
  œ: 0x9c,
  ž: 0x9e,
  Ÿ: 0x9f,
  "−": 0x2d,
};
/** Replaces a character that no font here has; a document that shows it explains what it means. */
export const MISSING = "□";

/** A text as codes of a font: bytes of a standard one, or glyphs of the embedded one. */
interface Run {
  wide: boolean;
  codes: number[];
}

function runOf(text: string): Run {
  const signs = Array.from(text.normalize("NFC"));
  const bytes = signs.flatMap((sign) => byteOf(sign) ?? []);
  return bytes.length === signs.length
    ? { wide: false, codes: bytes }
    : { wide: true, codes: signs.flatMap(glyphsOf) };
}

/** The character's own glyph, or those of its decomposition. */
function glyphsOf(sign: string): number[] {
  const font = wideFont();
  const own = font.glyphOf(sign);
  if (own !== null) return [own];
  const parts = Array.from(sign.normalize("NFKD")).flatMap((part) => font.glyphOf(part) ?? []);
  return parts.length > 0 ? parts : [font.glyphOf(MISSING) ?? 0];
}

function byteOf(sign: string): number | null {
  const code = sign.codePointAt(0) ?? 0;
  if ((code >= 0x20 && code <= 0x7e) || (code >= 0xa0 && code <= 0xff)) return code;
  return Object.hasOwn(WIN_ANSI, sign) ? (WIN_ANSI[sign] ?? null) : null;
}

const widthOf = ({ wide, codes }: Run, font: Face, size: number): number => {
  const each = (code: number): number =>
    wide
      ? wideFont().widthOf(code)
      : font === "mono"
        ? MONO_WIDTH
        : (WIDTHS[code - FIRST_WIDTH] ?? OTHER_WIDTH);
  return (codes.reduce((sum, code) => sum + each(code), 0) * size) / 1000;
};

/** A literal string: everything but plain letters is written as an octal code, so that no byte can end it. */
const literal = (bytes: readonly number[]): string =>
  `(${bytes
    .map((byte) =>
      byte < 0x20 || byte > 0x7e || byte === 0x28 || byte === 0x29 || byte === 0x5c
        ? `\\${byte.toString(8).padStart(3, "0")}`
        : String.fromCharCode(byte),
    )
    .join("")})`;

const hex = (glyphs: readonly number[]): string =>
  `<${glyphs.map((glyph) => glyph.toString(16).padStart(4, "0")).join("")}>`;

/** A text string of the document itself: UTF-16 with a byte order mark, as hex. */
const utf16 = (text: string): string => {
  const bytes = Buffer.from(text, "utf16le").swap16();
  return `<${bytes.toString("hex")}>`;
};

interface PdfText {
  x: number;
  /** Measured from the top of the page. */
  y: number;
  size?: number;
  font?: Face;
  /** Ends at `x` instead of starting there. */
  right?: boolean;
  /** Truncated with an ellipsis if wider. */
  width?: number;
  /** From 0 (black) to 1. */
  grey?: number;
}

const ELLIPSIS = "…";
/** The name of the embedded font; its bold is drawn with an outline of this fraction of the size. */
const WIDE = "F4";
const OUTLINE = 0.03;
/** More characters than fit on any line. */
const LONGEST = 500;

/** The content of each page, in order. */
export class PdfWriter {
  private readonly pages: string[][] = [[]];
  /** The page that text goes to: the last one, until the footers are written. */
  private at = 0;
  /** Glyphs in use, each with the character that a reader copies. */
  private readonly glyphs = new Map<number, string>();

  /** True if a character was written that no font here has. */
  lacks = false;

  newPage(): void {
    this.at = this.pages.push([]) - 1;
  }

  text(text: string, { x, y, size = 9, font = "regular", right = false, width, grey = 0 }: PdfText): void {
    const signs = Array.from(text.slice(0, LONGEST).normalize("NFC"));
    const run = runOf(signs.join(""));
    if (width !== undefined && widthOf(run, font, size) > width) {
      const [ellipsis = 0] = run.wide ? glyphsOf(ELLIPSIS) : [byteOf(ELLIPSIS) ?? 0];
      while (run.codes.length > 0 && widthOf({ ...run, codes: [...run.codes, ellipsis] }, font, size) > width)
        run.codes.pop();
      run.codes.push(ellipsis);
    }
    if (run.wide) this.note(signs);
    const from = right ? x - widthOf(run, font, size) : x;
    const place = `${number(from)} ${number(PDF_PAGE.height - y)} Td`;
    // An outline makes it bold: only one font is embedded.
    const bold = run.wide && font === "bold";
    const stroke = bold ? `${grey} G ${number(OUTLINE * size)} w 2 Tr ` : "";
    const shown = run.wide ? hex(run.codes) : literal(run.codes);
    this.put(
      `${grey} g BT ${stroke}/${run.wide ? WIDE : FONTS[font].name} ${size} Tf ${place} ${shown} Tj ${bold ? "0 Tr " : ""}ET`,
    );
  }

  private note(signs: readonly string[]): void {
    const font = wideFont();
    const missing = font.glyphOf(MISSING) ?? 0;
    for (const sign of [...signs, ELLIPSIS])
      for (const glyph of glyphsOf(sign)) {
        this.lacks ||= glyph === missing && sign !== MISSING;
        if (!this.glyphs.has(glyph)) this.glyphs.set(glyph, glyph === missing ? MISSING : sign);
      }
  }

  /** A thin horizontal line. */
  rule(y: number, from: number, to: number): void {
    const at = number(PDF_PAGE.height - y);
    this.put(`0.75 G 0.5 w ${number(from)} ${at} m ${number(to)} ${at} l S`);
  }

  /** Returns the file. `footer` is called for each page once their number is known. */
  bytes(title: string, footer: (page: number, of: number) => void): Uint8Array<ArrayBuffer> {
    for (this.at = 0; this.at < this.pages.length; this.at++) footer(this.at + 1, this.pages.length);
    return fileOf(this.pages, title, this.glyphs);
  }

  private put(operators: string): void {
    this.pages[this.at]?.push(operators);
  }
}

const number = (value: number): string => String(Math.round(value * 100) / 100);

/** The objects of the embedded font, the first with this number; empty if no text needs it. */
function wideObjects(glyphs: ReadonlyMap<number, string>, first: number): string[] {
  if (glyphs.size === 0) return [];
  const font = wideFont();
  const used = [...glyphs.keys()].sort((a, b) => a - b);
  const cut = font.cutTo(used);
  const packed = `${deflateSync(cut).toString("hex")}>`;
  const signs = used.map((glyph) => `${hex([glyph])} ${utf16(glyphs.get(glyph) ?? "")}`);
  const map = [
    "/CIDInit /ProcSet findresource begin 12 dict begin begincmap",
    "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def",
    "/CMapName /Adobe-Identity-UCS def /CMapType 2 def",
    "1 begincodespacerange <0000> <ffff> endcodespacerange",
    ...inHundreds(signs).map((some) => `${some.length} beginbfchar\n${some.join("\n")}\nendbfchar`),
    "endcmap CMapName currentdict /CMap defineresource pop end end",
  ].join("\n");
  const widths = used.map((glyph) => `${glyph} [${font.widthOf(glyph)}]`).join(" ");
  return [
    `<< /Type /Font /Subtype /Type0 /BaseFont /${WIDE_NAME} /Encoding /Identity-H /DescendantFonts [${first + 1} 0 R] /ToUnicode ${first + 4} 0 R >>`,
    `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /${WIDE_NAME} /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor ${first + 2} 0 R /DW 600 /W [${widths}] /CIDToGIDMap /Identity >>`,
    `<< /Type /FontDescriptor /FontName /${WIDE_NAME} /Flags 4 /FontBBox [-1021 -463 1793 1232] /ItalicAngle 0 /Ascent 928 /Descent -236 /CapHeight 729 /StemV 90 /FontFile2 ${first + 3} 0 R >>`,
    `<< /Length ${packed.length} /Length1 ${cut.length} /Filter [/ASCIIHexDecode /FlateDecode] >>\nstream\n${packed}\nendstream`,
    `<< /Length ${map.length} >>\nstream\n${map}\nendstream`,
  ];
}

/** The six letters before the plus sign mark a font subset. */
const WIDE_NAME = "TOLLGA+DejaVuSans";

function inHundreds(all: readonly string[]): string[][] {
  const pieces: string[][] = [];
  for (let from = 0; from < all.length; from += 100) pieces.push(all.slice(from, from + 100));
  return pieces;
}

function fileOf(
  pages: readonly string[][],
  title: string,
  glyphs: ReadonlyMap<number, string>,
): Uint8Array<ArrayBuffer> {
  const fonts = Object.values(FONTS);
  const firstFont = 4;
  const firstWide = firstFont + fonts.length;
  const wide = wideObjects(glyphs, firstWide);
  const firstPage = firstWide + wide.length;
  const pageIds = pages.map((_, i) => firstPage + 2 * i);
  const standard = fonts.map(({ name }, i) => `/${name} ${firstFont + i} 0 R`).join(" ");
  const resources = wide.length === 0 ? standard : `${standard} /${WIDE} ${firstWide} 0 R`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length} /Kids [${pageIds.map((id) => `${id} 0 R`).join(" ")}] >>`,
    `<< /Title ${utf16(`\uFEFF${title}`)} /Producer (Tollgate) >>`,
    ...fonts.map(
      ({ base }) => `<< /Type /Font /Subtype /Type1 /BaseFont /${base} /Encoding /WinAnsiEncoding >>`,
    ),
    ...wide,
    ...pages.flatMap((operators, i) => {
      const content = operators.join("\n");
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${PDF_PAGE.width} ${PDF_PAGE.height}] /Resources << /Font << ${resources} >> >> /Contents ${firstPage + 2 * i + 1} 0 R >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, i) => {
    const at = text.length;
    text += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const table = offsets.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  const end = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info 3 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  // The whole file is ASCII, so its characters are its bytes.
  return new TextEncoder().encode(text + end);
}

// A small writer of PDF: pages of A4 with lines of text in the standard fonts, which every reader has, and rules between them.
// Text is WinAnsi; what those fonts have no sign for is written without its accents, or as a question mark, and never breaks
// the file. The document's title keeps every character (PDF 32000-1, 7.9.2).

type PdfFont = "regular" | "bold" | "mono";

const FONTS: Record<PdfFont, { name: string; base: string }> = {
  regular: { name: "F1", base: "Helvetica" },
  bold: { name: "F2", base: "Helvetica-Bold" },
  mono: { name: "F3", base: "Courier" },
};
/** A4, in points. */
const PDF_PAGE = { width: 595, height: 842 };

/** Widths of Helvetica from the blank to the tilde, in thousandths of the size. */
const WIDTHS = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
  556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
  500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
  556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
  278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
const FIRST_WIDTH = 32;
/** Of a letter with an accent, a sign of WinAnsi beyond ASCII: as wide as most. */
const OTHER_WIDTH = 556;
const MONO_WIDTH = 600;

/** WinAnsi's own places, beside those that it shares with Latin-1. */
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
const UNKNOWN = 0x3f;

/** The bytes that the standard fonts show for a text. */
function winAnsi(text: string): number[] {
  const bytes: number[] = [];
  for (const sign of text.normalize("NFC")) {
    const own = byteOf(sign);
    if (own !== null) bytes.push(own);
    else {
      const plain = Array.from(sign.normalize("NFKD")).flatMap((part) => byteOf(part) ?? []);
      bytes.push(...(plain.length === 0 ? [UNKNOWN] : plain));
    }
  }
  return bytes;
}

function byteOf(sign: string): number | null {
  const code = sign.codePointAt(0) ?? 0;
  if ((code >= 0x20 && code <= 0x7e) || (code >= 0xa0 && code <= 0xff)) return code;
  return Object.hasOwn(WIN_ANSI, sign) ? (WIN_ANSI[sign] ?? null) : null;
}

const widthOf = (bytes: readonly number[], font: PdfFont, size: number): number =>
  (bytes.reduce(
    (sum, byte) => sum + (font === "mono" ? MONO_WIDTH : (WIDTHS[byte - FIRST_WIDTH] ?? OTHER_WIDTH)),
    0,
  ) *
    size) /
  1000;

/** A literal string: what is no plain letter is written by its number, so that no byte of it can end it. */
const literal = (bytes: readonly number[]): string =>
  `(${bytes
    .map((byte) =>
      byte < 0x20 || byte > 0x7e || byte === 0x28 || byte === 0x29 || byte === 0x5c
        ? `\\${byte.toString(8).padStart(3, "0")}`
        : String.fromCharCode(byte),
    )
    .join("")})`;

/** A text of the document itself: UTF-16 with its mark, as hex. */
const wide = (text: string): string => {
  const bytes = Buffer.from(`\uFEFF${text}`, "utf16le").swap16();
  return `<${bytes.toString("hex")}>`;
};

interface PdfText {
  x: number;
  /** From the top of the page. */
  y: number;
  size?: number;
  font?: PdfFont;
  /** Ends at `x` instead of beginning there. */
  right?: boolean;
  /** Shortened with an ellipsis where it is wider. */
  width?: number;
  /** From 0, black, to 1. */
  grey?: number;
}

const ELLIPSIS = 0x85;
/** More characters than any line takes. */
const LONGEST = 500;

/** Pages as they are written, one after the other. */
export class PdfWriter {
  private readonly pages: string[][] = [[]];
  /** Where text goes: the last page, until the footers are written. */
  private at = 0;

  newPage(): void {
    this.at = this.pages.push([]) - 1;
  }

  text(text: string, { x, y, size = 9, font = "regular", right = false, width, grey = 0 }: PdfText): void {
    let bytes = winAnsi(text.slice(0, LONGEST));
    if (width !== undefined && widthOf(bytes, font, size) > width) {
      while (bytes.length > 0 && widthOf([...bytes, ELLIPSIS], font, size) > width)
        bytes = bytes.slice(0, -1);
      bytes = [...bytes, ELLIPSIS];
    }
    const from = right ? x - widthOf(bytes, font, size) : x;
    this.put(
      `${grey} g BT /${FONTS[font].name} ${size} Tf ${number(from)} ${number(PDF_PAGE.height - y)} Td ${literal(bytes)} Tj ET`,
    );
  }

  /** A thin line across. */
  rule(y: number, from: number, to: number): void {
    const at = number(PDF_PAGE.height - y);
    this.put(`0.75 G 0.5 w ${number(from)} ${at} m ${number(to)} ${at} l S`);
  }

  /** The file. `footer` is written on each page once their number is known. */
  bytes(title: string, footer: (page: number, of: number) => void): Uint8Array<ArrayBuffer> {
    for (this.at = 0; this.at < this.pages.length; this.at++) footer(this.at + 1, this.pages.length);
    return fileOf(this.pages, title);
  }

  private put(operators: string): void {
    this.pages[this.at]?.push(operators);
  }
}

const number = (value: number): string => String(Math.round(value * 100) / 100);

function fileOf(pages: readonly string[][], title: string): Uint8Array<ArrayBuffer> {
  const fonts = Object.values(FONTS);
  const [firstFont, firstPage] = [4, 4 + fonts.length];
  const pageIds = pages.map((_, i) => firstPage + 2 * i);
  const resources = fonts.map(({ name }, i) => `/${name} ${firstFont + i} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length} /Kids [${pageIds.map((id) => `${id} 0 R`).join(" ")}] >>`,
    `<< /Title ${wide(title)} /Producer (Tollgate) >>`,
    ...fonts.map(
      ({ base }) => `<< /Type /Font /Subtype /Type1 /BaseFont /${base} /Encoding /WinAnsiEncoding >>`,
    ),
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
  // All of it is ASCII, so that its characters are its bytes.
  return new TextEncoder().encode(text + end);
}

// A TrueType font for characters that the standard PDF fonts lack: the glyph of a character, its width, and a
// subset of the font with the glyphs used in a document. Glyphs keep their numbers, so that nothing that
// refers to them has to be rewritten (OpenType 1.9; PDF 32000-1, 9.7).
import { readFileSync } from "node:fs";
import dejavu from "dejavu-fonts-ttf/ttf/DejaVuSans.ttf" with { type: "file" };

/** The tables that a reader of the subset needs; the others are for text layout. */
const KEPT = ["cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep"] as const;
/** Flags of a component of a composite glyph (`glyf`). */
const PART = { words: 0x1, scale: 0x8, more: 0x20, scales: 0x40, matrix: 0x80 } as const;
/**
 * Scripts written from right to left, or whose forms and positions depend on context: placed glyph by glyph
 * they would be wrong. Hebrew through the scripts of India and South-East Asia, and their presentation forms.
 */
const NEEDS_LAYOUT =
  /[\u0590-\u08ff\u0900-\u0fff\u1000-\u109f\u1780-\u18af\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufb1d-\ufdff\ufe70-\ufeff]/u;

export class PdfFont {
  private readonly view: DataView;
  private readonly tables = new Map<string, { at: number; length: number }>();
  private readonly glyphs: number;
  private readonly wideMetrics: number;
  private readonly unitsPerEm: number;
  private readonly longOffsets: boolean;

  constructor(private readonly bytes: Uint8Array<ArrayBuffer>) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let n = 0, at = 12; n < this.view.getUint16(4); n += 1, at += 16) {
      const tag = String.fromCharCode(...bytes.subarray(at, at + 4));
      this.tables.set(tag, { at: this.view.getUint32(at + 8), length: this.view.getUint32(at + 12) });
    }
    this.unitsPerEm = this.view.getUint16(this.at("head") + 18);
    this.longOffsets = this.view.getInt16(this.at("head") + 50) === 1;
    this.glyphs = this.view.getUint16(this.at("maxp") + 4);
    this.wideMetrics = this.view.getUint16(this.at("hhea") + 34);
  }

  /** Null if the font has no glyph, or if its form or position would be wrong. */
  glyphOf(sign: string): number | null {
    const code = sign.codePointAt(0) ?? 0;
    if (code > 0xffff || code < 0x20 || NEEDS_LAYOUT.test(sign)) return null;
    return this.mapped(code) || null;
  }

  /** In thousandths of the font size. */
  widthOf(glyph: number): number {
    const metric = Math.min(glyph, this.wideMetrics - 1);
    return Math.round((this.view.getUint16(this.at("hmtx") + 4 * metric) * 1000) / this.unitsPerEm);
  }

  /** The font reduced to these glyphs and their components. */
  cutTo(glyphs: Iterable<number>): Uint8Array<ArrayBuffer> {
    const kept = new Set([0]);
    const wanted = [...glyphs];
    for (let next = wanted.pop(); next !== undefined; next = wanted.pop()) {
      if (kept.has(next)) continue;
      kept.add(next);
      wanted.push(...this.partsOf(next));
    }
    const shapes = [...kept].sort((a, b) => a - b).map((glyph) => ({ glyph, ...this.shapeOf(glyph) }));
    const glyf = new Uint8Array(shapes.reduce((sum, { length }) => sum + even(length), 0));
    const loca = new DataView(new ArrayBuffer(4 * (this.glyphs + 1)));
    const hmtx = new Uint8Array(this.lengthOf("hmtx"));
    const metrics = this.table("hmtx");
    let at = 0;
    let from = 0;
    for (const { glyph, start, length } of shapes) {
      for (; from <= glyph; from += 1) loca.setUint32(4 * from, at);
      glyf.set(this.bytes.subarray(start, start + length), at);
      at += even(length);
      const metric = 4 * Math.min(glyph, this.wideMetrics - 1);
      hmtx.set(metrics.subarray(metric, metric + 4), metric);
    }
    for (; from <= this.glyphs; from += 1) loca.setUint32(4 * from, at);
    const head = this.table("head").slice();
    new DataView(head.buffer).setInt16(50, 1); // four-byte offsets
    const made: Record<string, Uint8Array> = { glyf, hmtx, head, loca: new Uint8Array(loca.buffer) };
    return fileOf(KEPT.flatMap((tag) => (this.tables.has(tag) ? [[tag, made[tag] ?? this.table(tag)]] : [])));
  }

  /**
   * The glyph in the font's map of the basic plane (`cmap`, format 4); glyph 0, meaning none, if the font
   * lacks it.
   */
  private mapped(code: number): number {
    const { view } = this;
    const map = this.basicMap();
    const segments = view.getUint16(map + 6) / 2;
    const [ends, starts] = [map + 14, map + 16 + 2 * segments];
    for (let n = 0; n < segments; n += 1) {
      if (view.getUint16(ends + 2 * n) < code) continue;
      const start = view.getUint16(starts + 2 * n);
      if (start > code) return 0;
      const delta = view.getUint16(starts + 2 * segments + 2 * n);
      const offsetAt = starts + 4 * segments + 2 * n;
      const offset = view.getUint16(offsetAt);
      if (offset === 0) return (code + delta) & 0xffff;
      const glyph = view.getUint16(offsetAt + offset + 2 * (code - start));
      return glyph === 0 ? 0 : (glyph + delta) & 0xffff;
    }
    return 0;
  }

  private basicMap(): number {
    const cmap = this.at("cmap");
    for (let n = 0; n < this.view.getUint16(cmap + 2); n += 1) {
      const map = cmap + this.view.getUint32(cmap + 8 + 8 * n);
      if (this.view.getUint16(map) === 4) return map;
    }
    throw new Error("the font has no map of the basic plane");
  }

  private shapeOf(glyph: number): { start: number; length: number } {
    const loca = this.at("loca");
    const offset = (n: number): number =>
      this.longOffsets ? this.view.getUint32(loca + 4 * n) : 2 * this.view.getUint16(loca + 2 * n);
    return { start: this.at("glyf") + offset(glyph), length: offset(glyph + 1) - offset(glyph) };
  }

  private partsOf(glyph: number): number[] {
    const { start, length } = this.shapeOf(glyph);
    const parts: number[] = [];
    if (length === 0 || this.view.getInt16(start) >= 0) return parts;
    for (let at = start + 10, more = true; more; ) {
      const flags = this.view.getUint16(at);
      parts.push(this.view.getUint16(at + 2));
      at += 4 + (flags & PART.words ? 4 : 2);
      at += flags & PART.scale ? 2 : flags & PART.scales ? 4 : flags & PART.matrix ? 8 : 0;
      more = (flags & PART.more) !== 0;
    }
    return parts;
  }

  private table(tag: string): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(this.at(tag), this.at(tag) + this.lengthOf(tag));
  }

  private at(tag: string): number {
    return this.of(tag).at;
  }

  private lengthOf(tag: string): number {
    return this.of(tag).length;
  }

  private of(tag: string): { at: number; length: number } {
    const found = this.tables.get(tag);
    if (found === undefined) throw new Error(`the font has no table ${tag}`);
    return found;
  }
}

const even = (length: number): number => length + (length % 2);
const whole = (length: number): number => Math.ceil(length / 4) * 4;

/** The tables after their directory, each at a multiple of four. PDF readers ignore the checksums. */
function fileOf(tables: readonly (readonly [string, Uint8Array])[]): Uint8Array<ArrayBuffer> {
  const directory = 12 + 16 * tables.length;
  const bytes = new Uint8Array(directory + tables.reduce((sum, [, { length }]) => sum + whole(length), 0));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x00010000);
  view.setUint16(4, tables.length);
  const power = Math.floor(Math.log2(tables.length));
  view.setUint16(6, 16 * 2 ** power);
  view.setUint16(8, power);
  view.setUint16(10, 16 * tables.length - 16 * 2 ** power);
  let at = directory;
  for (const [n, [tag, table]] of tables.entries()) {
    const entry = 12 + 16 * n;
    bytes.set(new TextEncoder().encode(tag), entry);
    view.setUint32(entry + 8, at);
    view.setUint32(entry + 12, table.length);
    bytes.set(table, at);
    at += whole(table.length);
  }
  return bytes;
}

let read: PdfFont | null = null;
/** Read when the first document needs it: most do not. */
export const wideFont = (): PdfFont => (read ??= new PdfFont(new Uint8Array(readFileSync(dejavu))));

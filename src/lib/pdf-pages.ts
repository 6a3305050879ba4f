// Counts the pages of a PDF without rendering it: its page objects, including those in compressed object
// streams (ISO 32000 §7.5.7). Linear in the number of bytes, whatever they contain, with a limit on
// decompression.
import { constants, inflateSync } from "node:zlib";

const PAGE = /\/Type\s*\/Page(?![\w.#-])/g;
const OBJECT_STREAM = /\/Type\s*\/ObjStm(?![\w.#-])/g;
const DEFLATED = /\/Filter\s*(?:\/FlateDecode|\[\s*\/FlateDecode\s*\])\s*(?=[/>])/;
/** Predictor-encoded rows; nobody writes objects that way. */
const PREDICTED = /\/Predictor\s+(?!1\b)/;

/** The maximum length of a dictionary on either side of its type. */
const DICTIONARY_LENGTH = 4096;
const OBJECT_STREAMS_MAX = 4096;
/** The total limit for all object streams: as much as real deflated objects need, but no zip bomb. */
const unpackedMax = (bytes: number): number => Math.min(16 * 1024 * 1024, 64 * 1024 + 8 * bytes);

/**
 * Null if the number cannot be determined: encrypted, damaged, compressed in a way that nobody uses, or not a
 * document.
 */
export function pdfPages(bytes: Buffer): number | null {
  const text = bytes.toString("latin1");
  let pages = countOf(text);
  let room = unpackedMax(bytes.length);
  let streams = 0;
  OBJECT_STREAM.lastIndex = 0;
  for (let found = OBJECT_STREAM.exec(text); found !== null; found = OBJECT_STREAM.exec(text)) {
    const { start, end, deflated } = streamAt(text, found.index) ?? {};
    if (start === undefined || end === undefined || ++streams > OBJECT_STREAMS_MAX) return null;
    // Uncompressed objects were counted with the rest.
    if (deflated === true) {
      const unpacked = inflated(bytes.subarray(start, end), room);
      if (unpacked === null) return null;
      room -= unpacked.length;
      pages += countOf(unpacked.toString("latin1"));
    }
    OBJECT_STREAM.lastIndex = end;
  }
  return pages === 0 ? null : pages;
}

function countOf(text: string): number {
  let pages = 0;
  PAGE.lastIndex = 0;
  while (PAGE.test(text)) pages += 1;
  return pages;
}

/** The bytes of the object stream whose dictionary has its type at this position. */
function streamAt(text: string, type: number): { start: number; end: number; deflated: boolean } | null {
  const after = text.slice(type, type + DICTIONARY_LENGTH);
  const keyword = /stream\r?\n/.exec(after);
  if (keyword === null) return null;
  const start = type + keyword.index + keyword[0].length;
  const end = text.indexOf("endstream", start);
  const before = text.slice(Math.max(0, type - DICTIONARY_LENGTH), type);
  const dictionary = before.slice(before.lastIndexOf("obj") + 1) + after.slice(0, keyword.index);
  const deflated = DEFLATED.test(dictionary);
  if (end === -1 || PREDICTED.test(dictionary)) return null;
  return deflated || !dictionary.includes("/Filter") ? { start, end, deflated } : null;
}

function inflated(packed: Uint8Array, room: number): Buffer | null {
  if (room <= 0) return null;
  try {
    return inflateSync(packed, { maxOutputLength: room, finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return null;
  }
}

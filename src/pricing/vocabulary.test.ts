// Compares with the library that the tables come from: both must count every text alike.
import { expect, test } from "bun:test";
import fc from "fast-check";
import * as cl100k from "gpt-tokenizer/encoding/cl100k_base";
import * as o200k from "gpt-tokenizer/encoding/o200k_base";
import { Vocabulary } from "./vocabulary.ts";

const PLAIN_TEXT = { disallowedSpecial: new Set<string>() };
const LIBRARY = { o200k_base: o200k, cl100k_base: cl100k };

/** Words as people write them, text that only machines write, and bytes that do not form a token. */
const unit = fc.oneof(
  fc.constantFrom(
    " ",
    "\n",
    "\r\n",
    "\t",
    "'s",
    "'LL",
    "/",
    "-",
    "1",
    "2026",
    "e\u0301",
    "😀",
    "👩‍👩‍👧",
    "\u00a0",
  ),
  fc.constantFrom(
    "the",
    "The",
    "THE",
    "ing",
    "Straße",
    "привет",
    "العربية",
    "漢字",
    "한국어",
    "ไทย",
    "हिन्दी",
  ),
  fc.string({ unit: "binary", minLength: 1, maxLength: 3 }),
);
/** The library loses the byte order mark when it reads its table, where it is one token (`77u/`), and counts two. */
const MARK = "\uFEFF";
const texts = fc.array(unit, { maxLength: 60 }).map((units) => units.join("").replaceAll(MARK, ""));

test.each(["o200k_base", "cl100k_base"] as const)("%s: counts as the library does", async (name) => {
  const vocabulary = await Vocabulary.load(name);
  const asLibrary = (text: string): void =>
    expect([text, vocabulary.count(text)]).toEqual([text, LIBRARY[name].countTokens(text, PLAIN_TEXT)]);
  fc.assert(fc.property(texts, asLibrary), { numRuns: 2_000 });
  for (const word of ["a", "é", "漢", "😀", "ab7", " ", "\n"]) asLibrary(word.repeat(1_000));
  asLibrary(await Bun.file(import.meta.path).text());
  expect([MARK, `a${MARK}b`].map((text) => vocabulary.count(text))).toEqual([1, 3]);
});

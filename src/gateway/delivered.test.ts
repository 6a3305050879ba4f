// What a stream has delivered: the count that charges, and the lower bound that the log uses while the tokenizer loads.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { countTokens } from "../pricing/tokens.ts";
import { Delivered } from "./delivered.ts";

const SHARE = { organizationId: "org_a", lane: "settlement" } as const;
const tokensOf = (text: string): Promise<number> => countTokens([text], "o200k_base", SHARE);
const delivering = (): Delivered => new Delivered("o200k_base", 1000, SHARE.organizationId);
const add = (delivered: Delivered, text: string, choice = 0): void =>
  delivered.add({ type: "text", choice, text });

test("what was accepted is counted as it stands, the word that goes on included", async () => {
  const delivered = delivering();
  for (const text of ["The", " quick", " brown", " fo"]) add(delivered, text);
  delivered.accept();
  add(delivered, "x jumps");
  expect(delivered.acceptedAtLeast).toBe(4);
  expect(await delivered.countAccepted()).toBe(await tokensOf("The quick brown fo"));
  delivered.accept();
  expect(await delivered.countAccepted()).toBe(await tokensOf("The quick brown fox jumps"));
  expect(await delivered.count()).toBe(await tokensOf("The quick brown fox jumps"));
});

const TEXTS = {
  Chinese: "江畔何人初见月江月何年初照人人生代代无穷已江月年年望相似".repeat(60),
  Japanese: "吾輩は猫である名前はまだ無いどこで生れたかとんと見当がつかぬ".repeat(60),
  "minified JSON": JSON.stringify(
    Array.from({ length: 200 }, (_, id) => ({ id, name: `n${id}`, ok: id % 2 === 0 })),
  ).replaceAll(" ", ""),
  "one endless word": "donaudampfschifffahrtsgesellschaftskapitän".repeat(80),
  emoji: "👩‍👩‍👧🏳️‍🌈🧑🏽‍🚀".repeat(200),
  English: "It was the best of times, it was the worst of times. ".repeat(60),
};

test.each(Object.entries(TEXTS))(
  "%s: counted as it grows, by the character, it comes out as its whole",
  async (_, text) => {
    const delivered = delivering();
    let [sofar, characters] = ["", 0];
    for (const character of text) {
      add(delivered, character);
      sofar += character;
      characters += 1;
      if (characters % 97 !== 0) continue;
      delivered.accept();
      expect(delivered.acceptedAtLeast).toBeGreaterThan(0);
      const counted = await delivered.countAccepted();
      expect(counted).toBe(await tokensOf(sofar));
      expect(delivered.acceptedAtLeast).toBeGreaterThanOrEqual(counted);
    }
    expect(await delivered.count()).toBe(await tokensOf(text));
  },
);

test("the lower bound is never above the count", async () => {
  const texts = fc.array(
    fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom(" ", " the", "\n\n", "漢字", "12345678901234567890"),
    ),
  );
  await fc.assert(
    fc.asyncProperty(texts, async (parts) => {
      const delivered = delivering();
      for (const text of parts) add(delivered, text);
      delivered.accept();
      const { acceptedAtLeast } = delivered;
      expect(acceptedAtLeast).toBeLessThanOrEqual(await delivered.count());
      expect(acceptedAtLeast > 0).toBe(parts.join("") !== "");
    }),
    { numRuns: 300 },
  );
});

test("choices that arrive in turns are texts of their own", async () => {
  const delivered = delivering();
  const [one, other] = ["antidisestablishmentarianism", "counterrevolutionaries"];
  for (let index = 0; index < one.length; index += 1) {
    add(delivered, one.charAt(index), 0);
    add(delivered, other.charAt(index), 1);
  }
  expect(await delivered.count()).toBe((await tokensOf(one)) + (await tokensOf(other)));
});

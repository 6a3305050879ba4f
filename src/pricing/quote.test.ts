import { expect, test } from "bun:test";
import fc from "fast-check";
import { NO_CAPABILITIES } from "../domain/capabilities.ts";
import { type NanoUsd, nanoUsd, parseUsd } from "../domain/money.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Release } from "../domain/release.ts";
import { affordableMaxTokens, promptBound, quote as quoteOf } from "./quote.ts";

const usd = (text: string) => parseUsd(text) ?? nanoUsd(-1n);
const RELEASE: Release = {
  digest: "d",
  route: "m@p/r",
  version: 1,
  model: "m",
  provider: "p",
  upstreamModel: "u",
  region: "r",
  tier: "standard",
  requiresPaid: false,
  contextWindow: 4096,
  maxOutputTokens: 1024,
  defaultOutputTokens: 256,
  price: { input: usd("0.50"), cachedInput: usd("0.50"), output: usd("1.50"), requestMinimum: usd("0.0001") },
  publishedPrice: { input_per_million: "0.50", output_per_million: "1.50", request_minimum: "0.0001" },
  reasoning: null,
  tokenizer: "o200k_base",
  capabilities: NO_CAPABILITIES,
  imageTokensMax: 1000,
  fileTokensMax: 3000,
  filePagesMax: 10,
  remoteImages: false,
  defaults: {},
  priority: 1,
  weight: 100,
  issuedAtMs: 0,
  expiresAtMs: 1,
  signedBy: "k",
};
const NONE = { imageTokensMax: null, fileTokensMax: null };
const SIZE = { bytes: 412, messages: 2, tools: 0, images: 0, files: 0 };
const asking = (maxTokens: number | null, n = 1, promptSize = SIZE) => ({ promptSize, maxTokens, n });
const on = (...releases: Release[]) => ({ releases, promptTokens: null });
/** Quotes the counted tokens if given, otherwise the bound of what is sent. */
const quote = ({
  request: { promptSize, ...request },
  releases,
  promptTokens,
}: {
  request: ReturnType<typeof asking>;
  releases: Release[];
  promptTokens: number | null;
}) => quoteOf({ request, releases, promptTokens: promptTokens ?? promptBound(promptSize, NONE) });

function refusalOf(act: () => unknown): Refusal {
  try {
    act();
  } catch (error) {
    if (error instanceof Refusal) return error;
  }
  throw new Error("was not refused");
}

test("the worked example of the money rules: bound and hold", () => {
  expect(promptBound(SIZE, NONE)).toBe(444);
  expect(quote({ request: asking(200), ...on(RELEASE) })).toMatchObject({
    promptTokensMax: 444,
    outputCeiling: 200,
    outputTokensSource: "request",
    hold: nanoUsd(522_000n),
  });
  const counted = quote({ request: asking(200), releases: [RELEASE], promptTokens: 96 });
  expect(counted).toMatchObject({ promptTokensMax: 96, hold: nanoUsd(348_000n) });
});

test("messages, tools, images and files weigh what the bound says", () => {
  const size = { bytes: 0, messages: 3, tools: 2, images: 2, files: 3 };
  expect(promptBound(size, RELEASE)).toBe(3 * 8 + 2 * 16 + 16 + 2 * 1000 + 3 * 3000);
  for (const one of [{ images: 1 }, { files: 1 }])
    expect(() => promptBound({ ...SIZE, ...one }, NONE)).toThrow("reached a release without it");
});

test("the caller's own maximum is checked against the window before it is lowered", () => {
  const room = RELEASE.contextWindow - 444;
  expect(quote({ request: asking(room), ...on(RELEASE) }).outputCeiling).toBe(1024);
  const refusal = refusalOf(() => quote({ request: asking(room + 1), ...on(RELEASE) }));
  expect(refusal).toMatchObject({
    code: "context_length_exceeded",
    param: "messages",
    message:
      "This model's maximum context length is 4096 tokens. However, you requested 4097 tokens (444 in the messages, 3653 in the completion).",
    details: { context_window: 4096, prompt_tokens: 444, max_tokens: 3653 },
  });
  expect(refusalOf(() => quote({ request: asking(2 ** 31), ...on(RELEASE) })).code).toBe(
    "context_length_exceeded",
  );
});

test("a maximum that is just the release's own is the caller's, a default that just fits is the release's", () => {
  expect(quote({ request: asking(1024), ...on(RELEASE) })).toMatchObject({
    outputCeiling: 1024,
    outputTokensSource: "request",
  });
  expect(quote({ request: asking(null), releases: [RELEASE], promptTokens: 4096 - 256 })).toMatchObject({
    outputCeiling: 256,
    outputTokensSource: "release_default",
  });
});

test("a prompt that leaves room for one token is quoted for one", () => {
  expect(quote({ request: asking(null), releases: [RELEASE], promptTokens: 4095 })).toMatchObject({
    outputCeiling: 1,
    outputTokensSource: "window",
  });
});

test("a maximum above the release's own is lowered to it", () => {
  expect(quote({ request: asking(1025), ...on(RELEASE) })).toMatchObject({
    outputCeiling: 1024,
    outputTokensSource: "release_maximum",
  });
});

test("without a maximum the release's default applies, lowered to the room in the window", () => {
  expect(quote({ request: asking(null), ...on(RELEASE) })).toMatchObject({
    outputCeiling: 256,
    outputTokensSource: "release_default",
  });
  const nearlyFull = { ...SIZE, bytes: 4096 - 32 - 10 };
  expect(quote({ request: asking(null, 1, nearlyFull), ...on(RELEASE) })).toMatchObject({
    outputCeiling: 10,
    outputTokensSource: "window",
  });
  const full = { ...SIZE, bytes: 4096 - 32 };
  expect(refusalOf(() => quote({ request: asking(null, 1, full), ...on(RELEASE) })).details).toEqual({
    context_window: 4096,
    prompt_tokens: 4096,
    max_tokens: null,
  });
});

test("choices multiply the output, not the prompt", () => {
  expect(quote({ request: asking(200, 3), ...on(RELEASE) }).hold).toBe(nanoUsd(222_000n + 900_000n));
});

test("a cached rate above the input rate raises the hold", () => {
  const odd = { ...RELEASE, price: { ...RELEASE.price, cachedInput: usd("1.00") } };
  expect(quote({ request: asking(200), ...on(odd) }).hold).toBe(nanoUsd(444_000n + 300_000n));
});

test("several candidates: the dearest hold, the smallest ceiling, whatever their order", () => {
  const dear = { ...RELEASE, route: "dear", price: { ...RELEASE.price, output: usd("30") } };
  const short = { ...RELEASE, route: "short", maxOutputTokens: 100 };
  for (const order of [
    [RELEASE, dear, short],
    [short, dear, RELEASE],
  ]) {
    const quoted = quote({ request: asking(200), ...on(...order) });
    expect(quoted).toMatchObject({ outputCeiling: 100, hold: nanoUsd(222_000n + 3_000_000n) });
    expect(quoted.releases).toEqual(order);
  }
});

test("a candidate whose window is too small is left out; the widest window speaks when none fits", () => {
  const narrow = { ...RELEASE, route: "narrow", contextWindow: 500 };
  expect(quote({ request: asking(200), ...on(narrow, RELEASE) }).releases).toEqual([RELEASE]);
  const refusal = refusalOf(() => quote({ request: asking(5000), ...on(narrow, RELEASE) }));
  expect(refusal.details).toMatchObject({ context_window: 4096 });
});

test("the affordable maximum is the largest that the budget pays, and one more is too dear", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 3000 }),
      fc.integer({ min: 1, max: 8 }),
      fc.bigInt({ min: 0n, max: 10_000_000n }),
      (bytes, n, amount) => {
        const budget = nanoUsd(amount);
        const input = (maxTokens: number) => ({
          request: asking(maxTokens, n, { ...SIZE, bytes }),
          ...on(RELEASE, { ...RELEASE, contextWindow: 3800 }),
        });
        const { releases } = input(1);
        const most = affordableMaxTokens({ releases, promptTokens: bytes + 32, n, budget });
        if (most > 0) expect(quote(input(most)).hold <= budget).toBe(true);
        if (most < 1024 && bytes + 32 + most + 1 <= 3800)
          expect(quote(input(most + 1)).hold > budget).toBe(true);
      },
    ),
  );
});

test("with any prices, windows and ceilings the affordable maximum is admitted, and no larger one gives more", () => {
  const candidate = fc.record({
    contextWindow: fc.integer({ min: 110, max: 160 }),
    maxOutputTokens: fc.integer({ min: 1, max: 40 }),
    output: fc.bigInt({ min: 0n, max: 9n }),
    requestMinimum: fc.bigInt({ min: 0n, max: 400n }),
  });
  fc.assert(
    fc.property(
      fc.array(candidate, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 3 }),
      fc.bigInt({ min: 0n, max: 500n }),
      (candidates, n, amount) => {
        const releases = candidates.map(({ contextWindow, maxOutputTokens, output, requestMinimum }) => {
          const price = {
            ...RELEASE.price,
            input: nanoUsd(1_000_000n),
            cachedInput: nanoUsd(0n),
            output: nanoUsd(output * 1_000_000n),
            requestMinimum: nanoUsd(requestMinimum),
          };
          return { ...RELEASE, contextWindow, maxOutputTokens, price };
        });
        /** Returns the output tokens that this maximum gives; null if it is refused. */
        const given = (maxTokens: number): number | null => {
          try {
            const quoted = quoteOf({ request: { maxTokens, n }, releases, promptTokens: 100 });
            return quoted.hold <= amount ? quoted.outputCeiling : null;
          } catch {
            return null;
          }
        };
        const most = affordableMaxTokens({ releases, promptTokens: 100, n, budget: nanoUsd(amount) });
        const output = most === 0 ? 0 : (given(most) ?? -1);
        expect(output).toBeGreaterThanOrEqual(0);
        for (let larger = most + 1; larger <= 61; larger++)
          expect(given(larger) ?? 0).toBeLessThanOrEqual(output);
        if (most === 0) for (let any = 1; any <= 61; any++) expect(given(any)).toBeNull();
      },
    ),
    { numRuns: 2_000 },
  );
});

test("nothing is affordable below the request minimum or without room in the window", () => {
  const affordable = (release: Release, promptTokens: number, budget: NanoUsd): number =>
    affordableMaxTokens({ releases: [release], promptTokens, n: 1, budget });
  expect(affordable(RELEASE, 96, nanoUsd(99_999n))).toBe(0);
  expect(affordable(RELEASE, 96, nanoUsd(100_000n))).toBe(34);
  expect(affordable(RELEASE, 4096, usd("100"))).toBe(0);
  expect(affordable(RELEASE, 4095, usd("100"))).toBe(1);
  const free = { ...RELEASE, price: { ...RELEASE.price, output: nanoUsd(0n) } };
  expect(affordable(free, 96, usd("1"))).toBe(1024);
});

test("where nothing is put out, as of vectors, there is no maximum to afford", () => {
  const vectors = { ...RELEASE, maxOutputTokens: 0, defaultOutputTokens: 0 };
  expect(affordableMaxTokens({ releases: [vectors], promptTokens: 96, n: 1, budget: usd("1") })).toBe(0);
});

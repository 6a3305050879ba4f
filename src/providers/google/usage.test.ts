import { expect, test } from "bun:test";
import fc from "fast-check";
import { liesWithin, readsRecordedUsages } from "../usage.fixtures.ts";
import { geminiUsage } from "./usage.ts";

readsRecordedUsages("gemini-generate-content", 30, (told) => geminiUsage(told));

test("whatever it tells, the classes lie within the totals, or nothing was told", () => {
  const figure = fc.oneof(
    fc.nat(1000),
    fc.constantFrom(-1, 0.5, Number.MAX_SAFE_INTEGER, Number.NaN, "7", null, undefined, []),
  );
  const details = fc.array(
    fc.record({ modality: fc.constantFrom("TEXT", "AUDIO", "IMAGE", "DOCUMENT", 7), tokenCount: figure }),
    { maxLength: 4 },
  );
  const usage = fc.record({
    promptTokenCount: figure,
    toolUsePromptTokenCount: figure,
    candidatesTokenCount: figure,
    thoughtsTokenCount: figure,
    totalTokenCount: figure,
    cachedContentTokenCount: figure,
    promptTokensDetails: details,
    toolUsePromptTokensDetails: fc.oneof(details, fc.constant("no list")),
    cacheTokensDetails: details,
    candidatesTokensDetails: details,
  });
  fc.assert(
    fc.property(usage, (told) => {
      const read = geminiUsage(told);
      if (read !== null) liesWithin(read);
    }),
    { numRuns: 500 },
  );
});

test("an event that counts nothing yet tells of no usage", () => {
  expect(geminiUsage({ trafficType: "PROVISIONED_THROUGHPUT" })).toBeNull();
  expect(geminiUsage(null)).toBeNull();
  expect(geminiUsage("7")).toBeNull();
});

test("thoughts stand beside the candidates, with a total or without", () => {
  const told = { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 7 };
  expect(geminiUsage(told)).toMatchObject({ completionTokens: 12, reasoningTokens: 7 });
  expect(geminiUsage({ ...told, totalTokenCount: 22 })).toMatchObject({ completionTokens: 12 });
});

test("what was spoken is part of the answer, beside its thoughts", () => {
  const candidatesTokensDetails = [
    { modality: "TEXT", tokenCount: 2 },
    { modality: "AUDIO", tokenCount: 30 },
  ];
  const told = {
    promptTokenCount: 1,
    candidatesTokenCount: 32,
    thoughtsTokenCount: 7,
    candidatesTokensDetails,
  };
  expect(geminiUsage(told)).toMatchObject({ completionTokens: 39, audioOutputTokens: 30 });
  const more = [{ modality: "AUDIO", tokenCount: 99 }];
  expect(geminiUsage({ ...told, candidatesTokensDetails: more })?.audioOutputTokens).toBe(32);
});

test("a total above what was told apart is believed: something of the answer was left out", () => {
  const told = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 40 };
  expect(geminiUsage(told)?.completionTokens).toBe(30);
  expect(geminiUsage({ ...told, totalTokenCount: 3 })?.completionTokens).toBe(5);
});

test("the tier of service, in either word", () => {
  const tier = (told: object): string | null | undefined =>
    geminiUsage({ promptTokenCount: 1, ...told })?.serviceTier;
  expect(tier({ serviceTier: "PRIORITY" })).toBe("priority");
  expect(tier({ trafficType: "ON_DEMAND_FLEX" })).toBe("flex");
  expect(tier({ trafficType: "ON_DEMAND_OFFPEAK" })).toBe("offpeak");
  expect(tier({ trafficType: "ON_DEMAND" })).toBeNull();
  expect(tier({ trafficType: "PROVISIONED_THROUGHPUT" })).toBeNull();
  expect(tier({})).toBeNull();
});

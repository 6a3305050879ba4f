// What an operator reads behind a refusal names what was typed, not the field of the API that it became.
import { expect, test } from "bun:test";
import { nextStep } from "./next-step.ts";

test.each([
  ["usd", ["--org", "--usd"], "--usd"],
  ["group_by", ["--group-by"], "--group-by"],
  ["limit_usd", ["--usd"], "--usd"],
  ["limit_usd", ["--usd", "--limit-usd"], "--limit-usd"],
  ["request", ["--usd"], "request"],
])("%s of a command with %j is corrected at %s", (param, options, typed) => {
  expect(nextStep({ code: "invalid_request", param }, options)).toBe(
    `Correct ${typed} and run the command again.`,
  );
});

test("a release that was refused is mended by the check that failed", () => {
  const mended = (step?: "signature" | "version" | "expiry", param: string | null = null): string =>
    nextStep({ code: "release_refused", param, ...(step !== undefined && { step }) });
  expect(mended("signature")).toContain("trust.release_keys");
  expect(mended("version")).toStartWith("Raise the version");
  expect(mended("expiry")).toContain("--expires-in");
  expect(mended("signature", "pricing.input_per_million")).toBe(
    "Correct the manifest, sign it again, and publish that.",
  );
  expect(mended()).toBe(mended("signature", "model")); // of a gateway that does not tell
});

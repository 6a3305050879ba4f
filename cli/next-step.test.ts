// What the operator reads after a refusal names the option that was typed, not the API field it became.
import { expect, test } from "bun:test";
import { nextStep } from "./next-step.ts";

test.each([
  ["usd", ["--org", "--usd"], "--usd"],
  ["group_by", ["--group-by"], "--group-by"],
  ["limit_usd", ["--usd"], "--usd"],
  ["limit_usd", ["--usd", "--limit-usd"], "--limit-usd"],
  ["expires_at", ["--name", "--expires"], "--expires"],
  ["allowed_models", ["--models"], "--models"],
  ["max_output_tokens", ["--max-output"], "--max-output"],
  ["charge_usd", ["--settle", "--release"], "--settle"],
  ["version", ["--version", "--if-version"], "--if-version"],
  ["version", ["--name"], "version"],
  ["request", ["--usd"], "request"],
])("%s of a command with %j is corrected at %s", (param, options, typed) => {
  expect(nextStep({ code: "invalid_request", param }, options)).toBe(
    `Correct ${typed} and run the command again.`,
  );
});

test("the next step after a refused release depends on the check that failed", () => {
  const mended = (step?: "signature" | "version" | "expiry", param: string | null = null): string =>
    nextStep({ code: "release_refused", param, ...(step !== undefined && { step }) });
  expect(mended("signature")).toContain("trust.release_keys");
  expect(mended("version")).toStartWith("Raise the version");
  expect(mended("expiry")).toContain("--expires-in");
  expect(mended("signature", "pricing.input_per_million")).toBe(
    "Correct the manifest, sign it again, and publish it.",
  );
  expect(mended()).toBe(mended("signature", "model")); // a gateway that does not say which
});

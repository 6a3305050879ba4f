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

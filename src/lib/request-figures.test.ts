import { expect, test } from "bun:test";
import { OWN_HISTOGRAMS, RequestFigures } from "./request-figures.ts";

/** This many routes, each with one settled request and one failed call. */
function used(routes: number): string {
  const figures = new RequestFigures();
  for (let n = 0; n < routes; n += 1) {
    const own = figures.open({
      model: `model-${n}`,
      provider: "acme",
      route: `model-${n}@acme/eu`,
      surface: "/v1/chat/completions",
      operation: "chat",
      providerName: "acme",
    });
    own.called("timeout", 1);
    own.called(null, 0.5);
    own.settled({
      inputTokens: 10,
      outputTokens: 5,
      charge: 1n,
      variance: 2n,
      seconds: 0.7,
      firstPartSeconds: 0.1,
    });
  }
  return figures.print();
}

const lines = (text: string, pattern: RegExp): string[] =>
  text.split("\n").filter((line) => pattern.test(line));
const sum = (found: string[]): number =>
  found.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(" "))), 0);

test("with thousands of routes in use a bounded number have their own histograms; the others share one, and nothing is lost", () => {
  const text = used(3_000);
  for (const name of [
    "tollgate_request_duration_seconds",
    "tollgate_first_part_seconds",
    "gen_ai_server_time_to_first_token_seconds",
  ]) {
    const counts = lines(text, new RegExp(`^${name}_count`));
    expect(counts.length).toBe(OWN_HISTOGRAMS + 1);
    expect(sum(counts)).toBe(3_000);
    expect(sum(counts.filter((line) => line.includes('route="other"')))).toBe(3_000 - OWN_HISTOGRAMS);
  }
  expect(sum(lines(text, /^gen_ai_client_token_usage_sum/))).toBe(45_000);
  expect(sum(lines(text, /^gen_ai_client_operation_duration_seconds_count.*error_type="timeout"/))).toBe(
    3_000,
  );
  expect(text.length).toBeLessThan(10_000_000);
});

test("charges and losses are printed for each route, however many there are", () => {
  const text = used(3_000);
  for (const [name, usd] of [
    ["charged", "0.000000001"],
    ["variance", "0.000000002"],
  ]) {
    const found = lines(text, new RegExp(`^tollgate_${name}_usd_total\\{`));
    expect(found.length).toBe(3_000);
    expect(found.every((line) => line.endsWith(` ${usd}`))).toBe(true);
  }
});

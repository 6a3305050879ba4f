// `provider test`: its output for a working provider, and for those broken in the usual ways.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Simulator, startSimulator } from "../../src/providers/simulator/server.ts";
import { PROGRAM, type Ran, runToEnd } from "../support/program.ts";

const SECRET = "gsk_do-not-print-me-1";
const PATIENCE_MS = 60_000;
let folder: string;
let simulator: Simulator;
let html: Bun.Server<undefined>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-provider-"));
  simulator = await startSimulator({ port: 0 });
  html = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("<html>", { headers: { "content-type": "text/html" } }),
  });
  writeFileSync(
    join(folder, "tollgate.yaml"),
    `providers:
  - { name: well, kind: groq, base_url: "${simulator.url}/v1", api_key: ${SECRET} }
  - { name: aws, kind: bedrock, region: us-east-1, base_url: "${simulator.url}/bedrock", api_key: ${SECRET} }
  - { name: away, kind: groq, base_url: "http://127.0.0.1:9/v1", api_key: ${SECRET} }
  - { name: odd, kind: groq, base_url: "http://127.0.0.1:${html.port}/v1", api_key: ${SECRET} }
`,
  );
});
afterAll(async () => {
  await simulator.stop();
  await html.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

interface Tried {
  ok: boolean;
  expected: { prompt_tokens_max: number; output_tokens_max: number; usd_max: number | null } | null;
  checks: { check: string; state: string; found: string; next: string | null }[];
}

async function run(...args: string[]): Promise<Ran> {
  const ran = await runToEnd(PROGRAM, ["provider", "test", ...args], { cwd: folder });
  expect(ran.out + ran.err).not.toContain(SECRET);
  return ran;
}

const tried = async (...args: string[]): Promise<Tried & { code: number; err: string }> => {
  const { code, out, err } = await run(...args, "--json");
  return { ...(JSON.parse(out) as Tried), code, err };
};

const statesOf = ({ checks }: Tried): string[] => checks.map(({ check, state }) => `${check} ${state}`);
const ALL_WELL = ["reachable ok", "key ok", "answer ok", "stream ok", "tool call ok", "usage ok"];
/** Calls that the simulator would invoice since the last check. */
const billed = (before: number): number =>
  simulator
    .bill()
    .slice(before)
    .filter((call) => call.billed).length;

test(
  "a working provider: every line is ok, within the cost announced before the first paid call",
  async () => {
    const before = simulator.bill().length;
    const told = await tried("well", "--model", "openai/gpt-oss-20b");
    expect([told.code, told.ok, statesOf(told)]).toEqual([0, true, ALL_WELL]);
    const calls = simulator.bill().slice(before);
    expect(calls).toHaveLength(3);
    const sum = (of: (call: (typeof calls)[number]) => number): number =>
      calls.reduce((total, call) => total + of(call), 0);
    expect(sum((call) => call.prompt_tokens)).toBeLessThanOrEqual(told.expected?.prompt_tokens_max ?? 0);
    expect(sum((call) => call.completion_tokens)).toBeLessThanOrEqual(told.expected?.output_tokens_max ?? 0);
    expect(told.err).toStartWith("At most three calls with ");
  },
  PATIENCE_MS,
);

test(
  "another shape, as text: the binary stream of Bedrock",
  async () => {
    const { code, out } = await run("aws", "--model", "amazon.nova-pro-v1:0");
    expect([code, out.match(/^ok/gm)?.length]).toEqual([0, 5]); // the answer's status tells about its key
  },
  PATIENCE_MS,
);

test(
  "without a model nothing is paid for",
  async () => {
    const before = simulator.bill().length;
    const told = await tried("well");
    expect([told.code, statesOf(told).slice(0, 3)]).toEqual([
      0,
      ["reachable ok", "key ok", "answer skipped"],
    ]);
    expect([billed(before), told.expected]).toEqual([0, null]);
  },
  PATIENCE_MS,
);

test(
  "a failure says how it fails and what to do; tests made pointless by it are skipped",
  async () => {
    const away = await tried("away", "--model", "m");
    expect([away.code, statesOf(away)[0]]).toEqual([1, "reachable failed"]);
    expect(away.checks[0]?.next).toContain("base_url");
    expect(
      statesOf(away)
        .slice(1)
        .every((one) => one.endsWith("skipped")),
    ).toBe(true);

    const odd = await tried("odd", "--model", "m");
    expect([odd.code, statesOf(odd)[2]]).toEqual([1, "answer failed"]);
    expect(odd.checks[2]?.next).toContain("a format other than groq");

    const before = simulator.bill().length;
    simulator.behave({ behaviour: { status: 401, error_message: `no such key ${SECRET}` } });
    const refused = await tried("well", "--model", "m");
    simulator.behaveWell();
    expect([refused.code, statesOf(refused).slice(2)]).toEqual([
      1,
      ["answer failed", "stream skipped", "tool call skipped", "usage skipped"],
    ]);
    expect(refused.checks[2]?.next).toContain("api_key");
    expect(billed(before)).toBe(0);

    simulator.behave({ behaviour: { no_usage: true, text: "words" } });
    const silent = await tried("well", "--model", "m");
    simulator.behaveWell();
    expect([silent.code, statesOf(silent).slice(4)]).toEqual([0, ["tool call note", "usage note"]]);
  },
  PATIENCE_MS,
);

test(
  "an unknown name, and none, are refused",
  async () => {
    expect((await run("nobody")).err).toContain("It has: well, aws, away, odd, simulator.");
    expect((await run()).code).toBe(2);
  },
  PATIENCE_MS,
);

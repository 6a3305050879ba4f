// `release sign`: a script gets the whole JWS on stdout, a person at a terminal a summary and where it was written.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM, runToEnd } from "../support/program.ts";

const MANIFEST = {
  model: "m",
  provider: "simulator",
  upstream_model: "m",
  region: "local",
  version: 1,
  tier: "standard",
  requires_paid: false,
  context_window: 131_072,
  max_output_tokens: 8192,
  default_output_tokens: 1024,
  pricing: { currency: "USD", input_per_million: "1", output_per_million: "2", request_minimum: "0" },
  tokenizer: "o200k_base",
};
const SIGN = ["release", "sign", "m.yaml", "--key", "keys/release.private.jwk"];
const folder = mkdtempSync(join(tmpdir(), "tollgate-sign-"));
beforeAll(async () => {
  writeFileSync(join(folder, "m.yaml"), JSON.stringify(MANIFEST));
  expect((await runToEnd(PROGRAM, ["release", "keygen", "--out", "keys"], { cwd: folder })).code).toBe(0);
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const written = (): string => readFileSync(join(folder, "m.jws"), "utf8").trim();

/** All that appears on a terminal. */
async function onTerminal(args: readonly string[]): Promise<string> {
  let shown = "";
  const child = Bun.spawn([PROGRAM, ...args], {
    cwd: folder,
    terminal: { cols: 200, rows: 50, data: (_, bytes) => void (shown += Buffer.from(bytes).toString()) },
  });
  expect(await child.exited).toBe(0);
  child.terminal?.close();
  return shown;
}

test("where stdout is no terminal it is the JWS, with --json one document", async () => {
  const { code, out, err } = await runToEnd(PROGRAM, SIGN, { cwd: folder });
  expect([code, out.trim()]).toEqual([0, written()]);
  expect(err).toContain("Written to m.jws; publish it with: ");
  const json = await runToEnd(PROGRAM, ["--json", ...SIGN], { cwd: folder });
  expect(JSON.parse(json.out)).toMatchObject({ version: 1, jws: written(), file: "m.jws" });
}, 60_000);

test("on a terminal it is what was signed, with what, and where it is; with --print the JWS", async () => {
  const shown = await onTerminal(SIGN);
  expect(shown).not.toContain(written().slice(0, 100));
  for (const words of ["m@simulator/local", "m.jws", "release publish m.jws"]) expect(shown).toContain(words);
  const whole = await onTerminal([...SIGN, "--print"]);
  expect(whole.replaceAll(/\s/g, "")).toContain(written());
}, 60_000);

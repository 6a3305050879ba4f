// The README's three lines: a gateway with only a custom provider serves the demo models that it announces.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM, runToEnd } from "../support/program.ts";
import { serveProcess, type Served } from "../support/served.ts";
import { waitFor } from "../support/wait.ts";

const PATIENCE_MS = 90_000;
const env = { ANTHROPIC_API_KEY: "sk-ant-api03-of-nobody" };
let folder: string;
let gateway: Served;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-first-provider-"));
  const readme = readFileSync(join(import.meta.dir, "../../README.md"), "utf8");
  const lines = /```yaml\n(providers:[\s\S]*?)```/.exec(readme)?.[1] ?? "";
  expect(lines).toContain("${ANTHROPIC_API_KEY}");
  writeFileSync(join(folder, "tollgate.yaml"), lines);
  gateway = serveProcess({ folder, args: ["--port", "0"], env });
  await waitFor(async () => existsSync(join(folder, "data/operator.json")), "a gateway");
}, PATIENCE_MS);
afterAll(async () => {
  gateway.child.kill("SIGTERM");
  await gateway.ended;
  rmSync(folder, { recursive: true, force: true });
}, PATIENCE_MS);

test(
  "the model of the banner answers, and every route reported as live has its provider",
  async () => {
    const run = async <T>(...args: string[]): Promise<T> =>
      JSON.parse(
        (await runToEnd(PROGRAM, [...args, "--json"], { cwd: folder, env: { ...process.env, ...env } })).out,
      ) as T;
    const { data: organizations } = await run<{ data: { id: string }[] }>("org", "list");
    const mine = ["--org", organizations[0]?.id ?? "", "--name", "first"];
    const { secret } = await run<{ secret: string }>("keys", "create", ...mine);
    const { url } = JSON.parse(readFileSync(join(folder, "data/operator.json"), "utf8")) as { url: string };
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "base-preview-v1",
        messages: [{ role: "user", content: "Say hello" }],
      }),
    });
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status: 200,
      text: expect.stringContaining('"provider":"simulator"'),
    });
    const { findings } = await run<{ findings: { check: string; found: string }[] }>("doctor");
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(["provider claude", "provider simulator"]),
    );
    expect(findings.find(({ check }) => check === "releases")?.found).toContain(
      "nothing from claude is sold",
    );
  },
  PATIENCE_MS,
);

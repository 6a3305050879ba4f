// The log of a running gateway (hardening S36): one line per request, and nothing of a key, a prompt or an answer.
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM } from "./support/program.ts";

test("nothing of a key, a prompt or an answer is ever logged", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-logs-"));
  const log = Bun.file(join(folder, "log"));
  const gateway = Bun.spawn([PROGRAM, "serve", "--port", "0", "--data-dir", join(folder, "data")], {
    env: { ...process.env, TOLLGATE_LOG_LEVEL: "trace" },
    cwd: folder,
    stdin: "ignore",
    stdout: "pipe",
    stderr: log,
  });
  let banner = "";
  for await (const bytes of gateway.stdout) {
    banner += new TextDecoder().decode(bytes);
    if (banner.includes("Ctrl-C")) break;
  }
  const secret = /gw_sk_\w+/.exec(banner)?.[0] ?? "";
  const url = /http:\/\/[^/\s]+/.exec(banner)?.[0] ?? "";
  const ask = (headers: Record<string, string>, body: string): Promise<Response> =>
    fetch(`${url}/v1/chat/completions?api_key=${secret}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });
  const prompt = { model: "plain-1", messages: [{ role: "user", content: "a canary sings in the prompt" }] };
  const good = { authorization: `Bearer ${secret}` };
  const answer = (await (await ask(good, JSON.stringify(prompt))).json()) as {
    choices: { message: { content: string } }[];
  };
  await (await ask(good, JSON.stringify({ ...prompt, stream: true }))).text();
  await (await ask(good, `{"canary": broken`)).text();
  await (await ask({ authorization: `Bearer ${secret}x` }, JSON.stringify(prompt))).text();
  gateway.kill("SIGTERM");
  expect(await gateway.exited).toBe(0);
  const logged = readFileSync(join(folder, "log"), "utf8");
  rmSync(folder, { recursive: true, force: true });
  expect(logged.trim().split("\n").length).toBeGreaterThanOrEqual(4);
  expect(logged).not.toContain(secret.slice(0, 24));
  expect(logged).not.toContain("canary");
  expect(logged).not.toContain((answer.choices[0]?.message.content ?? "").slice(0, 20));
  const [stopped, ...requests] = logged.trim().split("\n").toReversed();
  expect(JSON.parse(stopped ?? "")).toMatchObject({
    msg: "told to stop: running answers may finish",
    running: 0,
  });
  for (const line of requests)
    expect(JSON.parse(line)).toMatchObject({
      id: expect.stringMatching(/^req_/),
      status: expect.any(Number),
    });
}, 120_000);

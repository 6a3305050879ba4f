// `doctor` finds the running gateway as every command does: from a shell that has another PORT, or none.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveProcess, type Served } from "../support/served.ts";
import { waitFor } from "../support/wait.ts";
import { PROGRAM } from "../support/program.ts";

const PATIENCE_MS = 90_000;
let folder: string;
let gateway: Served;
const data = (): string => join(folder, "data");

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-doctor-"));
  gateway = serveProcess({ folder, args: ["--port", "0"] });
  await waitFor(async () => existsSync(join(data(), "operator.json")), "a gateway");
}, PATIENCE_MS);
afterAll(async () => {
  gateway.child.kill("SIGTERM");
  await gateway.ended;
  rmSync(folder, { recursive: true, force: true });
}, PATIENCE_MS);

async function told(env: Record<string, string> = {}): Promise<{ found: string; next: string }> {
  const doctor = Bun.spawn([PROGRAM, "doctor", "--json"], {
    cwd: folder,
    env: { ...process.env, PORT: "1", ...env },
    stdout: "pipe",
    stderr: "ignore",
  });
  const { findings, next } = (await new Response(doctor.stdout).json()) as {
    findings: { check: string; found: string }[];
    next: string;
  };
  return { found: findings.find(({ check }) => check === "gateway")?.found ?? "", next };
}

const found = async (): Promise<string> => (await told()).found;

test(
  "a gateway on a port that this shell does not know, and none once it has ended",
  async () => {
    expect(await found()).toMatch(/^running and ready at http:\/\/127\.0\.0\.1:\d+, found by operator\.json/);
    expect((await told()).next).toBe("./tollgate --help");
    gateway.child.kill("SIGTERM");
    await gateway.ended;
    expect(await told()).toEqual({ found: "not running", next: "./tollgate serve" });
    // A process that has the directory and does not answer yet is said to be there.
    writeFileSync(join(data(), "tollgate.pid"), `${process.pid}\n`);
    expect(await found()).toBe(`process ${process.pid} has ${data()}, and answers nowhere`);
  },
  PATIENCE_MS,
);

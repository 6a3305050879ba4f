// The environment of an agent: its own home and project, no environment variable of the test's user, no network but
// this machine; everything it started ends with it.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ran } from "../support/program.ts";

const LONGEST_MS = 90_000;

export class Workplace {
  readonly home = mkdtempSync(join(tmpdir(), "tollgate-agent-"));
  /** The project's only file contains `colour = red`. */
  readonly project = join(this.home, "project");
  readonly notes = join(this.project, "notes.txt");

  /** `proxy`: the proxy for all other hosts. */
  constructor(private readonly proxy: string) {
    for (const folder of [this.project, join(this.home, "tmp")]) mkdirSync(folder);
    writeFileSync(this.notes, "colour = red\n");
  }

  get text(): string {
    return readFileSync(this.notes, "utf8");
  }

  async run(command: readonly string[], env: Record<string, string>): Promise<Ran> {
    const [program = "", ...args] = command;
    const child = spawn(program, args, {
      cwd: this.project,
      env: { ...this.environment(), ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true, // a process group of its own, ended as a whole
    });
    const group = -(child.pid ?? 0);
    const end = (): void => {
      try {
        process.kill(group, "SIGKILL");
      } catch (error) {
        if ((error as { code?: string }).code !== "ESRCH") throw error;
      }
    };
    const late = setTimeout(end, LONGEST_MS);
    const said = { out: "", err: "" };
    child.stdout.on("data", (bytes: Buffer) => (said.out += bytes.toString()));
    child.stderr.on("data", (bytes: Buffer) => (said.err += bytes.toString()));
    const code = await new Promise<number>((ended, failed) => {
      child.once("error", failed);
      child.once("exit", (status) => ended(status ?? -1));
    });
    clearTimeout(late);
    end();
    return { code, ...said };
  }

  close(): void {
    rmSync(this.home, { recursive: true, force: true });
  }

  /** Nothing from the test's user but the PATH. */
  environment(): Record<string, string> {
    const { home, proxy } = this;
    const here = "127.0.0.1,localhost";
    return {
      PATH: process.env["PATH"] ?? "",
      LANG: "C.UTF-8",
      HOME: home,
      TMPDIR: join(home, "tmp"),
      XDG_CONFIG_HOME: join(home, "config"),
      XDG_DATA_HOME: join(home, "share"),
      XDG_STATE_HOME: join(home, "state"),
      XDG_CACHE_HOME: join(home, "cache"),
      ...Object.fromEntries(
        ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [
          [name, proxy],
          [name.toLowerCase(), proxy],
        ]),
      ),
      NO_PROXY: here,
      no_proxy: here,
    };
  }
}

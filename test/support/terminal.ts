// A person's terminal: the command line as a separate process, with a home directory of its own.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM } from "./program.ts";

export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** A `login` that was started and has printed its code. */
export interface WaitingLogin {
  userCode: string;
  /** Contains the code. */
  link: string;
  ended: Promise<Ran>;
  giveUp(): Promise<void>;
}

export class Terminal {
  readonly home = mkdtempSync(join(tmpdir(), "tollgate-terminal-"));
  readonly credentials = join(this.home, "config", "tollgate", "credentials.json");

  /** Starts a command; it knows only the gateways in `args`, in `env` and in its own logins. */
  start(args: readonly string[], env: Record<string, string> = {}): Bun.Subprocess<"ignore", "pipe", "pipe"> {
    const { TOLLGATE_URL: _, TOLLGATE_TOKEN: __, TOLLGATE_DATA_DIR: ___, ...others } = process.env;
    return Bun.spawn([PROGRAM, ...args], {
      env: {
        ...others,
        HOME: this.home,
        XDG_CONFIG_HOME: join(this.home, "config"),
        TOLLGATE_DATA_DIR: join(this.home, "data"),
        ...env,
      },
      cwd: this.home,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  }

  async run(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
    const child = this.start(args, env);
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { code, out, err };
  }

  async login(url: string): Promise<WaitingLogin> {
    const child = this.start(["login", "--url", url, "--json"]);
    const reader = child.stderr.getReader();
    const words = new TextDecoder();
    let err = "";
    const more = async (): Promise<boolean> => {
      const { value, done } = await reader.read();
      err += words.decode(value, { stream: true });
      return !done;
    };
    while (!err.includes("Waiting") && (await more()));
    const ended = (async (): Promise<Ran> => {
      while (await more());
      const [out, code] = await Promise.all([child.stdout.text(), child.exited]);
      return { code, out, err };
    })();
    const [userCode = ""] = /\b[A-Z]{4}-[A-Z]{4}\b/.exec(err) ?? [];
    const [link = ""] = /http\S+\?code=\S+/.exec(err) ?? [];
    if (userCode === "") throw new Error(`no code: ${err}`);
    const giveUp = async (): Promise<void> => {
      child.kill();
      await ended;
    };
    return { userCode, link, ended, giveUp };
  }

  close(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

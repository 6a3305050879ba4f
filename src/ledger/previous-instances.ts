// The names under which processes of this directory own requests. A gateway that was killed and
// restarts here can then end what it left at once instead of waiting for its own lease to run out.
// Covers only processes of this machine, which can be known to be gone.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { runsBeside } from "../lib/living-process.ts";

interface Note {
  host: string;
  pid: number;
  /** The names of its instances, in any database: no two instances ever have the same name. */
  names: string[];
}

/** What this very process has written, by file: in containers the previous process had the same pid. */
const ours = new Map<string, Note>();

/** One file per process in the data directory; a process that gives back its lease removes it. */
export class PreviousInstances {
  private readonly path: string;

  constructor(private readonly directory: string) {
    this.path = join(directory, `instance-${process.pid}.json`);
  }

  /** Returns instances of processes that ended without giving their lease back; they are returned again until forgotten. */
  left(): { names: string[]; forget(): void } {
    const gone = [...new Bun.Glob("instance-*.json").scanSync({ cwd: this.directory })]
      .map((name) => join(this.directory, name))
      .filter((path) => !ours.has(path))
      .map((path) => ({ path, note: readNote(path) }))
      .filter(({ note }) => note === null || (note.host === hostname() && !runsBeside(note.pid)));
    return {
      names: gone.flatMap(({ note }) => note?.names ?? []),
      forget: () => gone.forEach(({ path }) => ours.has(path) || rmSync(path, { force: true })),
    };
  }

  /** Records that this process owns requests under this name from now on. */
  note(name: string): void {
    const note = ours.get(this.path) ?? { host: hostname(), pid: process.pid, names: [] };
    note.names.push(name);
    ours.set(this.path, note);
    writeFileSync(this.path, JSON.stringify(note), { mode: 0o600 });
  }

  /** Records that this process gave its lease back. */
  end(): void {
    rmSync(this.path, { force: true });
  }
}

/** Returns null for a file that a dying process did not finish: it names nobody. */
function readNote(path: string): Note | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Note;
  } catch {
    return null;
  }
}

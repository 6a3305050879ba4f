// Under which names the processes of this directory own requests: so that a gateway which was killed and starts again here
// ends at once what it left, instead of waiting for its own lease to run out. Only for processes of this machine, where it
// is certain that they are gone.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { runsBeside } from "../lib/living-process.ts";

interface Note {
  host: string;
  pid: number;
  /** Of its instances, in whatever database: no two are ever called the same. */
  names: string[];
}

/** What this very process has written, by file: in containers the process before us had our number. */
const ours = new Map<string, Note>();

/** One file per process in the data directory, which a process that gives back its lease removes. */
export class PreviousInstances {
  private readonly path: string;

  constructor(private readonly directory: string) {
    this.path = join(directory, `instance-${process.pid}.json`);
  }

  /** Instances of processes that ended without giving their lease back; told again until they are forgotten. */
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

  /** This process owns requests under this name from now on. */
  note(name: string): void {
    const note = ours.get(this.path) ?? { host: hostname(), pid: process.pid, names: [] };
    note.names.push(name);
    ours.set(this.path, note);
    writeFileSync(this.path, JSON.stringify(note), { mode: 0o600 });
  }

  /** This process gave its lease back. */
  end(): void {
    rmSync(this.path, { force: true });
  }
}

/** Null for a file that a dying process did not finish: it names nobody. */
function readNote(path: string): Note | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Note;
  } catch {
    return null;
  }
}

// The process that listens on a TCP port of this machine, as far as /proc shows it to this user.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface PortOwner {
  pid: number;
  /** The program's name without its arguments, which may contain secrets. */
  command: string;
}

/** Null if nobody listens, if the owner is another user's process, and on systems without /proc. */
export function ownerOf(port: number): PortOwner | null {
  const sockets = new Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => listenersOn(port, table)));
  if (sockets.size === 0) return null;
  for (const pid of entriesOf("/proc").filter((name) => /^\d+$/.test(name)))
    for (const file of entriesOf(`/proc/${pid}/fd`))
      if (sockets.has(linkOf(`/proc/${pid}/fd/${file}`)))
        return { pid: Number(pid), command: textOf(`/proc/${pid}/comm`).trim() };
  return null;
}

const LISTENS = "0A";

/** `socket:[inode]` of each listener; columns: slot, local address:port in hex, peer, state, …, inode. */
function listenersOn(port: number, table: string): string[] {
  const rows = textOf(table)
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  return rows
    .filter(
      ([, local, , state]) => state === LISTENS && Number.parseInt(local?.split(":")[1] ?? "", 16) === port,
    )
    .map((row) => `socket:[${row[9]}]`);
}

// A process may end or become another user's between two reads: whatever cannot be read counts as absent.
const entriesOf = (folder: string): string[] => readOr([], () => readdirSync(folder));
const linkOf = (path: string): string => readOr("", () => readlinkSync(path));
const textOf = (path: string): string => readOr("", () => readFileSync(path, "utf8"));

function readOr<T>(absent: T, read: () => T): T {
  try {
    return read();
  } catch {
    return absent;
  }
}

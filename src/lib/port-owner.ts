// Which process listens on a TCP port of this machine, as far as /proc tells this user.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface PortOwner {
  pid: number;
  /** The program's name without its arguments, which may hold secrets. */
  command: string;
}

/** Null where nobody listens, where the owner is another user's process, and on systems without /proc. */
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

/** `socket:[inode]` of each; columns: slot, local address:port in hex, peer, state, …, inode. */
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

// A process may end, or be another user's, between two looks: what cannot be read is not there.
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

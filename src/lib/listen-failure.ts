// Explains why a port does not open, in a sentence that names its owner and a remedy.
import { ownerOf } from "./port-owner.ts";

export class ListenFailure extends Error {
  constructor(
    message: string,
    /** What to do. */
    readonly next: string,
  ) {
    super(message);
    this.name = "ListenFailure";
  }
}

interface Place {
  host: string;
  port: number;
}

/** Opens the port and closes it immediately. Throws `ListenFailure` if the gateway could not listen there. */
export function tryPort({ host, port }: Place): void {
  try {
    void Bun.serve({ hostname: host, port, fetch: () => new Response() }).stop(true);
  } catch (error) {
    throw listenFailure(error, { host, port });
  }
}

/** Converts an error of `Bun.serve` or `node:http`; returns any other error unchanged. */
export function listenFailure(error: unknown, { host, port }: Place): unknown {
  if (!(error instanceof Error) || !("code" in error) || !("syscall" in error)) return error;
  const elsewhere = `--port ${suggestion(port)} or PORT=${suggestion(port)}`;
  switch (error.code) {
    case "EADDRINUSE": {
      const owner = ownerOf(port);
      if (owner !== null)
        return new ListenFailure(
          `Port ${port} of ${host} is in use by process ${owner.pid} (${owner.command}).`,
          `Stop it, or use another port: ${elsewhere}.`,
        );
      return new ListenFailure(
        `Port ${port} of ${host} is in use by a process that this user may not see.`,
        `Find it with ${SEARCH(port)}, or use another port: ${elsewhere}.`,
      );
    }
    case "EACCES":
      if (port === 0 || port >= 1024) break;
      return new ListenFailure(
        `Port ${port} is below 1024, and this user may not open it.`,
        `Use another port behind a proxy: ${elsewhere}; or allow this one: sysctl net.ipv4.ip_unprivileged_port_start=${port}.`,
      );
    case "EADDRNOTAVAIL":
      return new ListenFailure(
        `${host} is not an address of this machine.`,
        "Listen on one of its own: --host 127.0.0.1 for this machine alone, --host 0.0.0.0 for every network.",
      );
    default:
  }
  return new ListenFailure(
    `The gateway cannot listen on ${host}, port ${port}.`, // for a name that does not resolve, the code is that of an earlier call
    "Give an address of this machine: --host 127.0.0.1, or HOST=127.0.0.1.",
  );
}

const suggestion = (port: number): number => (port >= 1024 && port < 65_535 ? port + 1 : 8080);

const SEARCH = (port: number): string =>
  process.platform === "linux"
    ? `sudo ss -ltnp 'sport = :${port}'`
    : `sudo lsof -nP -iTCP:${port} -sTCP:LISTEN`;

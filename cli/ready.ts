// `ready` asks the gateway whether it takes requests, for callers without HTTP: the health check of a container that
// has no shell and no curl.
import type { Command } from "commander";
import { gatewayAddress, passByProxy } from "./gateway.ts";
import { Problem } from "./problem.ts";
import { report } from "./report.ts";

const TIMEOUT_MS = 3_000;

export function addReady(program: Command): void {
  program
    .command("ready")
    .description("check whether the gateway accepts requests; exit code 1 if not")
    .action((_: object, command: Command) =>
      report(command, async ({ options }) => {
        const address = await gatewayAddress(options);
        const status = await statusOf(new URL("/readyz", address));
        const ready = status === 200;
        const text = ready
          ? `${address} accepts requests.`
          : `${address} does not accept requests now (${status}).`;
        return { json: JSON.stringify({ ready, status }), text, exitCode: ready ? 0 : 1 };
      }),
    );
}

async function statusOf(url: URL): Promise<number> {
  passByProxy(url);
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })).status;
  } catch {
    throw new Problem(
      `Nothing answers at ${url.href}.`,
      "Check the gateway's log, or start it: ./tollgate serve",
    );
  }
}

// `simulator` runs the built-in provider on its own, for gateways in other processes, demos and fault runs
// (interfaces.md §6).
import type { Command } from "commander";
import { asProblem, WrongUsage } from "./problem.ts";

export function addSimulator(program: Command): void {
  program
    .command("simulator")
    .description("run the simulated provider; POST /_sim orders faults, GET /_sim/ledger shows its bill")
    .option("--port <n>", "port to listen on", "9101")
    .option("--host <host>", "address to listen on", "127.0.0.1")
    .action(async ({ port, host }: { port: string; host: string }) => {
      const { startSimulator } = await import("../src/providers/simulator/server.ts");
      const place = { port: portOf(port), host };
      const simulator = await startSimulator(place).catch((error: unknown) => {
        throw asProblem(error);
      });
      process.stdout.write(`The simulator answers on ${simulator.url}/v1. Ctrl-C stops it.\n`);
      for (const signal of ["SIGTERM", "SIGINT"] as const)
        process.on(signal, () => void simulator.stop().then(() => process.exit(0)));
    });
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new WrongUsage(`${text} is not a port.`, "Give a number from 0 to 65535.");
}

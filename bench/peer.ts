// A peer is what is measured: one way from the generator to the upstream. `start` starts it in front of the upstream.
import type { BenchDatabase } from "./postgres.ts";
import type { Process } from "./processes.ts";
import type { Target } from "./request.ts";

export interface Upstream {
  process: Process;
  port: number;
}

export interface RunningPeer {
  name: string;
  /** Null for `direct`, which has no process of its own. */
  process: Process | null;
  /** The database of its ledger, whose CPU time is a separate figure. */
  database?: BenchDatabase;
  target: Target;
  /** Makes a caller whose calls are paid from this budget; missing if the peer keeps no budgets. */
  withBudget?(usd: string): Promise<Budgeted>;
}

export interface Budgeted {
  /** The address of its calls, which may change. */
  target(): Target;
  /** Kills the process that keeps the budget with `kill -9`, and starts it again with what that left. */
  killed(): Promise<void>;
  /** Ends what was started only for it. */
  end(): Promise<void>;
}

export interface Peer {
  name: string;
  /** Takes part in every run: others are compared with it. */
  control: boolean;
  /** Takes part only if it is named. */
  apart?: true;
  /** The program's version, for the page that names it; missing for programs of this tree. */
  version?: () => string;
  /** Why it cannot run here, or null if it can. */
  missing(): string | null;
  start(upstream: Upstream, scratchDir: string): Promise<RunningPeer>;
}

/** The account that a peer's calls are billed to by the upstream: its bearer token there. */
export const accountOf = (peer: string): string => `bench-${peer}`;
export const DIRECT = "direct";
export const BARE_PROXY = "bare-proxy";
/** The floor of the gateway without its ledger: the least that a shell needs. */
export const LEAN_SHELL = "lean-shell";
/** Both floors in one program: no gateway built of these parts on this machine is faster. */
export const LEAN_GATEWAY = "lean-gateway";
/** The same on PostgreSQL. */
export const LEAN_GATEWAY_POSTGRES = "lean-gateway-postgres";
/** The floor of the ledger on SQLite: it writes the ledger's rows and decides nothing. */
export const LEAN_LEDGER = "lean-ledger";
/** The same on PostgreSQL. */
export const LEAN_LEDGER_POSTGRES = "lean-ledger-postgres";
export const TOLLGATE = "tollgate";
/** The same, with its ledger on PostgreSQL. */
export const TOLLGATE_POSTGRES = "tollgate-postgres";
/** The same, with a ledger that answers at once: its shell. */
export const NULL_LEDGER = "null-ledger";
export const TOLLGATES: readonly string[] = [TOLLGATE, TOLLGATE_POSTGRES, NULL_LEDGER];
/** These take part only if they are named. */
export const LEAN_GATEWAYS: readonly string[] = [LEAN_GATEWAY, LEAN_GATEWAY_POSTGRES];

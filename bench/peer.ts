// What is measured: a peer is a way from the generator to the upstream. `start` brings it up in front of the upstream.
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
  /** Where its ledger lies, whose CPU time is a figure of its own. */
  database?: BenchDatabase;
  target: Target;
  /** A caller of its own whose calls are paid from so much; left out where it keeps no budgets. */
  withBudget?(usd: string): Promise<Budgeted>;
}

export interface Budgeted {
  /** Where its calls go now. */
  target(): Target;
  /** `kill -9` of the process that keeps the budget, and its start on what that left. */
  killed(): Promise<void>;
  /** What was begun for it alone ends. */
  end(): Promise<void>;
}

export interface Peer {
  name: string;
  /** Takes part in every run: others are held against it. */
  control: boolean;
  /** Takes part only where it is named. */
  apart?: true;
  /** Of the program, for the page that names it; left out for what is of this tree. */
  version?: () => string;
  /** Why it cannot run here, or null when it can. */
  missing(): string | null;
  start(upstream: Upstream, scratchDir: string): Promise<RunningPeer>;
}

/** The account that a peer's calls are billed to by the upstream: its bearer token there. */
export const accountOf = (peer: string): string => `bench-${peer}`;
export const DIRECT = "direct";
export const BARE_PROXY = "bare-proxy";
/** What a shell needs at least: the floor of the gateway without its ledger. */
export const LEAN_SHELL = "lean-shell";
/** Both floors in one program: what no gateway of these parts on this machine gets below. */
export const LEAN_GATEWAY = "lean-gateway";
/** The same on PostgreSQL. */
export const LEAN_GATEWAY_POSTGRES = "lean-gateway-postgres";
/** What leaves the ledger's rows and decides nothing: the floor of the ledger on SQLite. */
export const LEAN_LEDGER = "lean-ledger";
/** The same on PostgreSQL. */
export const LEAN_LEDGER_POSTGRES = "lean-ledger-postgres";
export const TOLLGATE = "tollgate";
/** The same, with its ledger on PostgreSQL. */
export const TOLLGATE_POSTGRES = "tollgate-postgres";
/** The same, with a ledger that answers at once: its shell. */
export const NULL_LEDGER = "null-ledger";
export const TOLLGATES: readonly string[] = [TOLLGATE, TOLLGATE_POSTGRES, NULL_LEDGER];
/** Take part only where they are named. */
export const LEAN_GATEWAYS: readonly string[] = [LEAN_GATEWAY, LEAN_GATEWAY_POSTGRES];

// The current state for Prometheus: routes, circuits, the store, its backup, its books. Read from memory at
// each scrape; nothing here reads the store.
import { formatUsd, type NanoUsd } from "../domain/money.ts";
import { VERSION } from "../domain/program.ts";
import { type Histogram, labelText, metricHead } from "./histogram.ts";

interface RouteFigure {
  labels: { model: string; provider: string; route: string };
  state: string;
  circuit: string;
  /** Null if unknown. */
  expiresAtMs: number | null;
}

export interface StateFigures {
  /** All possible states of a route. */
  states: readonly string[];
  /** All phases of a circuit, from healthy to open: printed as their index. */
  circuits: readonly string[];
  routes(): RouteFigure[];
  /** Providers, and whether they refuse our account. */
  accounts(): { provider: string; refused: boolean }[];
  ready(): boolean;
  pulse(): {
    waiting: number;
    sweptAtMs: number | null;
    since: { took: Histogram; carried: Histogram; waited: Histogram };
  };
  /** Null if backups are the database's own concern; 0 if there was none yet. */
  backupAtMs(): number | null;
  /** The number of organizations whose paid calls are refused because their books do not add up. */
  stopped(): number;
  /** Null until it has been checked. */
  drift(): { amount: NanoUsd; atMs: number } | null;
}

/** All lines in Prometheus' text format, each family with its HELP and TYPE. */
export function printState(on: StateFigures): string {
  // Their labels appear in six lines each, and are printed once.
  const routes = on.routes().map(({ labels, ...route }) => ({ ...route, labels: labelText(labels) }));
  const { waiting, sweptAtMs, since } = on.pulse();
  const drift = on.drift();
  const backupAtMs = on.backupAtMs();
  return [
    gauge("tollgate_build_info", "The program's version.", [[labelText({ version: VERSION }), 1]]),
    gauge(
      "tollgate_route_state",
      "1 for the state that a route is in, 0 for the others.",
      routes.flatMap(({ labels, state }) =>
        on.states.map((one): Sample => [`${labels},state="${one}"`, Number(one === state)]),
      ),
    ),
    gauge(
      "tollgate_circuit_state",
      `A route's circuit: ${on.circuits.map((phase, place) => `${place} = ${phase}`).join(", ")}.`,
      routes.map(({ labels, circuit }) => [labels, on.circuits.indexOf(circuit)]),
    ),
    gauge(
      "tollgate_release_expiry_timestamp_seconds",
      "When a route's newest release ends; omitted for disabled routes.",
      routes
        .filter(({ state }) => state !== "disabled")
        .flatMap(({ labels, expiresAtMs }): Sample[] =>
          expiresAtMs === null ? [] : [[labels, expiresAtMs / 1000]],
        ),
    ),
    gauge(
      "tollgate_provider_account_refused",
      "1 while a provider refuses this gateway's key or account.",
      on.accounts().map(({ provider, refused }) => [labelText({ provider }), Number(refused)]),
    ),
    gauge("tollgate_store_ready", "1 while the store accepts writes.", [["", Number(on.ready())]]),
    gauge("tollgate_commit_queue", "Operations that wait for a commit.", [["", waiting]]),
    histogram("tollgate_commit_duration_seconds", "Duration of a commit.", since.took),
    histogram("tollgate_commit_operations", "Operations per commit.", since.carried),
    histogram(
      "tollgate_commit_wait_seconds",
      "How long the first operation of a commit had waited for it.",
      since.waited,
    ),
    gauge(
      "tollgate_sweep_timestamp_seconds",
      "When the ledger's upkeep last ended.",
      sweptAtMs === null ? [] : [["", sweptAtMs / 1000]],
    ),
    gauge(
      "tollgate_backup_timestamp_seconds",
      "When db backup last succeeded from this gateway's directory; 0 = never.",
      backupAtMs === null ? [] : [["", backupAtMs / 1000]],
    ),
    gauge(
      "tollgate_stopped_organizations",
      "Organizations whose paid calls are refused because their books do not add up.",
      [["", on.stopped()]],
    ),
    gauge(
      "tollgate_ledger_drift_usd",
      "Payments less chargebacks, charges and what organizations own: 0, or a bug.",
      drift === null ? [] : [["", formatUsd(drift.amount)]],
    ),
    gauge(
      "tollgate_ledger_drift_checked_timestamp_seconds",
      "When the drift was last computed.",
      drift === null ? [] : [["", drift.atMs / 1000]],
    ),
  ].join("");
}

/** `labels` as printed between braces; "" for none. */
type Sample = [labels: string, value: number | string];

function gauge(name: string, help: string, samples: Sample[]): string {
  const lines = samples.map(([labels, value]) => `${name}${labels === "" ? "" : `{${labels}}`} ${value}\n`);
  return metricHead(name, "gauge", help) + lines.join("");
}

const histogram = (name: string, help: string, of: Histogram): string =>
  metricHead(name, "histogram", help) + of.lines(name, "");

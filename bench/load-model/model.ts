// Models a load: a number of requests per second from a number of organizations, unevenly distributed, through a number
// of gateways into a number of databases. Batch sizes follow from the rate of operations, the cost of a request from
// the batches, and the number of machines from that. All of it is arithmetic on measured costs (costs.ts), so that a
// table of 100,000 requests a second can be checked on a machine that serves a thousand.

/** Microseconds of CPU, bytes and milliseconds, as measured by `npm run load-model -- --measure`. */
export interface Costs {
  /**
   * Of the database. Per request: its rows. Per commit: the log's flush, the round trips. Per touch: a balance and
   * its entries.
   */
  database: Parts;
  /** Of the database's log, bytes. */
  log: Parts;
  /** Of the ledger in the gateway's process. */
  ledger: Parts;
  /** Of the gateway's process without its ledger, per request. */
  shell: number;
  /** Bytes that a request leaves in the database, indexes included. */
  stored: number;
  /** The time of a commit with one operation, and what each further operation adds, milliseconds. */
  commitMs: number;
  operationMs: number;
  /** Writing connections of a process, each for the operations of its own organizations. */
  writers: number;
}

/** Cost per request, per commit, and per organization in a commit. */
export interface Parts {
  request: number;
  commit: number;
  touch: number;
}

export interface Load {
  /** Requests per second. */
  rate: number;
  organizations: number;
  /** 0: all equal. 1: the second has half of the first, the third a third … */
  skew: number;
}

/** The most connections that a process may have. */
const CONNECTIONS = 17;
/** Admitted, settled. */
const OPERATIONS = 2;
/** The most operations of one commit. */
const BATCH = 256;
/** Machines are planned for this part of their capacity. */
const USED = 0.6;

/** Each organization's share of the load, the largest first; the shares add up to 1. */
export function sharesOf({ organizations, skew }: Pick<Load, "organizations" | "skew">): Float64Array {
  const shares = Float64Array.from({ length: organizations }, (_, rank) => (rank + 1) ** -skew);
  const sum = shares.reduce((total, share) => total + share, 0);
  return shares.map((share) => share / sum);
}

/** Every `of`-th organization, from the `nth` on, as a hash distributes them over writers and databases. */
const dealt = (shares: Float64Array, nth: number, of: number): Float64Array =>
  shares.filter((_, rank) => rank % of === nth);

/** The expected number of different organizations in this many draws. `shares` need not add up to 1. */
export function distinct(shares: Float64Array, draws: number): number {
  if (draws <= 1) return 1;
  const whole = shares.reduce((sum, share) => sum + share, 0);
  return shares.reduce((met, share) => met + 1 - (1 - share / whole) ** draws, 0);
}

/** Operations per commit at this rate per millisecond: those that arrived during the previous commit. */
export function batchOf(
  perMs: number,
  { commitMs, operationMs }: Pick<Costs, "commitMs" | "operationMs">,
): number {
  // A machine at this utilization answers that much later than an idle one.
  const waitMs = commitMs / (1 - USED);
  const room = 1 - perMs * operationMs;
  return room <= 0 ? BATCH : Math.min(BATCH, Math.max(1, (perMs * waitMs) / room));
}

/** The averages that a request meets. */
export interface Batches {
  /** Operations per commit. */
  operations: number;
  commits: number;
  touches: number;
}

/** `shares`: those of the organizations of one database, as parts of the whole load. */
export function batchesOf(rate: number, shares: Float64Array, gateways: number, costs: Costs): Batches {
  let [commits, touches, requests] = [0, 0, 0];
  for (let writer = 0; writer < costs.writers; writer += 1) {
    const own = dealt(shares, writer, costs.writers);
    const perSecond = (rate * own.reduce((sum, share) => sum + share, 0)) / gateways;
    if (perSecond === 0) continue;
    const batch = batchOf((perSecond * OPERATIONS) / 1000, costs);
    const batches = (perSecond * OPERATIONS) / batch;
    requests += perSecond;
    commits += batches;
    touches += batches * distinct(own, batch);
  }
  return {
    operations: (requests * OPERATIONS) / commits,
    commits: commits / requests,
    touches: touches / requests,
  };
}

export const costOf = (parts: Parts, { commits, touches }: Pick<Batches, "commits" | "touches">): number =>
  parts.request + parts.commit * commits + parts.touch * touches;

/** The capacity of one database. */
export interface Limits {
  /** Cores of its machine. */
  cores: number;
  /** Bytes of log per second that its disk, and its standby's network, can take. */
  logBytes: number;
  connections: number;
  /** Requests per second of one organization: they are decided one after another, on one row. */
  hottest: number;
}

/** What a load needs, for one of the databases that it is spread over. */
export interface Needs {
  batches: Batches;
  /** For all databases; each is a process, and a core. */
  gateways: number;
  gatewayMicros: number;
  databaseMicros: number;
  /** The used part of each limit. */
  used: Readonly<Record<keyof Limits, number>>;
  databaseCores: number;
  logBytesPerSecond: number;
  /** Requests per second of the largest organization. */
  hottest: number;
  /** For all databases, per day. */
  storedBytesPerDay: number;
}

const SECONDS_PER_DAY = 86_400;
/** Gateways depend on the batches, which depend on the gateways: iterating from one upwards converges soon. */
const ROUNDS = 200;

/** `nth`: which of the databases; the first has the largest organization. */
export function needsOf(
  load: Load,
  databases: number,
  { costs, limits, nth = 0 }: { costs: Costs; limits: Limits; nth?: number },
): Needs {
  const shares = sharesOf(load);
  const own = dealt(shares, nth, databases);
  const rate = load.rate * own.reduce((sum, share) => sum + share, 0);
  const cpuOf = (batches: Batches): number => costs.shell + costOf(costs.ledger, batches);
  const gatewaysFor = (batches: Batches): number =>
    Math.max(1, Math.ceil((rate * cpuOf(batches)) / 1e6 / USED));
  let gateways = 1;
  let batches = batchesOf(load.rate, own, gateways, costs);
  for (let round = 0; round < ROUNDS && gatewaysFor(batches) > gateways; round += 1) {
    gateways = gatewaysFor(batches);
    batches = batchesOf(load.rate, own, gateways, costs);
  }
  const databaseMicros = costOf(costs.database, batches);
  const busyCores = (rate * databaseMicros) / 1e6;
  const logBytesPerSecond = rate * costOf(costs.log, batches);
  const hottest = load.rate * (shares[0] ?? 0);
  return {
    batches,
    gateways: Math.ceil((gateways * load.rate) / rate),
    gatewayMicros: cpuOf(batches),
    databaseMicros,
    databaseCores: Math.ceil(busyCores / USED),
    logBytesPerSecond,
    hottest,
    storedBytesPerDay: load.rate * costs.stored * SECONDS_PER_DAY,
    used: {
      cores: busyCores / USED / limits.cores,
      logBytes: logBytesPerSecond / limits.logBytes,
      connections: (gateways * CONNECTIONS) / limits.connections,
      hottest: hottest / limits.hottest,
    },
  };
}

/** The limit that is reached first. */
export const tightest = ({ used }: Needs): keyof Limits =>
  (Object.keys(used) as (keyof Limits)[]).reduce((most, limit) => (used[limit] > used[most] ? limit : most));

/**
 * The smallest number of databases that holds the load. With several, the databases without the largest organization
 * decide it: no number of databases reduces what the largest organization itself needs.
 */
export function databasesFor(load: Load, on: { costs: Costs; limits: Limits }): number {
  const fits = (databases: number): boolean => {
    const { cores, logBytes, connections } = needsOf(load, databases, { ...on, nth: databases - 1 }).used;
    return Math.max(cores, logBytes, connections) <= 1;
  };
  let databases = 1;
  while (databases < load.organizations && !fits(databases)) databases += 1;
  return databases;
}

/** The rate at which one database of this load reaches the first of its limits, to a hundredth. */
export function breaksAt(load: Omit<Load, "rate">, on: { costs: Costs; limits: Limits }): number {
  const over = (rate: number): boolean =>
    Math.max(...Object.values(needsOf({ ...load, rate }, 1, on).used)) > 1;
  let [low, high] = [1, 1];
  while (!over(high)) [low, high] = [high, high * 2];
  while (high - low > low / 100) {
    const middle = (low + high) / 2;
    if (over(middle)) high = middle;
    else low = middle;
  }
  return low;
}

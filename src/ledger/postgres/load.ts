// Reads what a batch is decided on, each table once for the whole batch: the balances, locked in the order of their
// organizations, then the clock, then the rest. All statements are sent before the first is answered (money.md §7).
import { nextUtcMonth, utcMonth } from "../../lib/clock.ts";
import type { MoneyOperation } from "../decide/decide.ts";
import type { Reversal } from "../decide/reversal.ts";
import { type Cell, flag, int } from "../cell.ts";
import { widthOf } from "../column-loads.ts";
import { LOAD } from "../columns.ts";
import { weekFromHour } from "../key-spend.ts";
import { countsDays } from "../key-spans.ts";
import * as put from "../put-rows.ts";
import { type Rows, noRows, rowId } from "../rows.ts";
import { type Parameter, type Question, questionAbout } from "./flight.ts";
import type { PostgresRates } from "./load-rates.ts";
import type { OwnRequests } from "./own-requests.ts";
import { READ } from "./readings.ts";
import type { Seen } from "./seen.ts";

export interface LoadedBatch {
  rows: Rows;
  /** The database's clock in milliseconds, read after the locks were taken; null if there was nothing to lock. */
  databaseNowMs: number | null;
  /** True if the given epoch may admit; false if there was nothing to lock. */
  owns: boolean;
}

/** The rows that a batch needs, each once, by their ids. */
class Wanted {
  readonly organizations = new Set<string>();
  readonly keys = new Map<string, [string, string]>();
  readonly claims = new Map<string, [string, string, string]>();
  readonly requests = new Map<string, [string, string]>();
  readonly entitlements = new Map<string, [string, string]>();
  readonly routes = new Set<string>();
  readonly topUps = new Map<string, [string, string, string]>();
  readonly reversals = new Map<string, [string, string, string]>();
  readonly refundables = new Map<string, [string, string]>();
  readonly quarantined = new Map<string, [string, string]>();

  constructor(operations: readonly MoneyOperation[]) {
    for (const operation of operations) this.add(operation);
  }

  private add(operation: MoneyOperation): void {
    switch (operation.kind) {
      case "admit":
        this.addAdmission(operation.admission);
        break;
      case "settle":
        this.addRequest(operation.settlement);
        break;
      case "void":
        this.addRequest(operation.voiding);
        break;
      case "checkpoint":
        this.addRequest(operation.checkpoint);
        break;
      case "by_hand": {
        const { organizationId, requestId } = operation.ending;
        this.addRequest(operation.ending);
        this.quarantined.set(rowId(organizationId, requestId), [organizationId, requestId]);
        break;
      }
      case "top_up": {
        const { organizationId, source, externalId } = operation.topUp;
        this.organizations.add(organizationId);
        this.topUps.set(rowId(organizationId, source, externalId), [organizationId, source, externalId]);
        break;
      }
      case "reverse":
        this.addReversal(operation.reversal);
        break;
    }
  }

  private addAdmission({
    credential,
    claim,
    asked,
    lowerings = [],
  }: Extract<MoneyOperation, { kind: "admit" }>["admission"]): void {
    const { organizationId, keyId } = credential;
    this.organizations.add(organizationId);
    this.keys.set(rowId(organizationId, keyId), [organizationId, keyId]);
    if (claim !== null)
      this.claims.set(rowId(organizationId, keyId, claim.idempotencyKey), [
        organizationId,
        keyId,
        claim.idempotencyKey,
      ]);
    if (asked.kind === "refusal") return;
    for (const lowering of lowerings) this.addRequest(lowering);
    for (const { route } of asked.plan.routes) this.routes.add(route);
    const { model, tier } = asked.plan;
    if (tier === "research") this.entitlements.set(rowId(organizationId, model), [organizationId, model]);
  }

  private addReversal({ organizationId, source, externalId, kind, target }: Reversal): void {
    this.organizations.add(organizationId);
    this.reversals.set(rowId(organizationId, source, externalId), [organizationId, source, externalId]);
    if (kind === "refund") this.refundables.set(rowId(organizationId, target), [organizationId, target]);
  }

  private addRequest({ organizationId, requestId }: { organizationId: string; requestId: string }): void {
    this.organizations.add(organizationId);
    this.requests.set(rowId(organizationId, requestId), [organizationId, requestId]);
  }
}

export interface LoadTerms {
  /** The epoch to admit under. Null for a preview, which locks nothing and decides without writing. */
  epoch: number | null;
  /** The approximate time, which determines the months of a key that are read. */
  aboutMs: number;
  rates: PostgresRates;
  /** Keys with a day or week limit. */
  days: Seen;
  /** Requests whose rows need not be read. */
  own: OwnRequests;
}

/** The index of the clock, after the cells of a balance; whether the epoch may admit follows it. */
const CLOCK = widthOf(LOAD.balance);

/** Returns rows per question, in the order of the questions. */
export type AskTogether = (questions: readonly Question[]) => Promise<Cell[][][]>;

/**
 * Loads everything the operations are decided on. Runs on one connection inside a transaction, unless
 * nothing is locked. `ask` sends the first round, `askMore` what only its answers show to be needed.
 */
export async function loadRows(
  { ask, askMore }: Record<"ask" | "askMore", AskTogether>,
  operations: readonly MoneyOperation[],
  { epoch, aboutMs, rates, days, own }: LoadTerms,
): Promise<LoadedBatch> {
  const wanted = new Wanted(operations);
  const rows = noRows();
  const questions: Question[] = [];
  const putting: put.Put[] = [];
  const read = (
    wants: readonly (readonly string[])[],
    { reading: of, into, also = [] }: { reading: keyof typeof READ; into: put.Put; also?: Parameter[] },
  ): void => {
    const [first] = wants;
    if (first === undefined) return;
    questions.push(questionAbout(READ[of], wants, also));
    putting.push(into);
  };
  const found: LoadedBatch = { rows, databaseNowMs: null, owns: false };
  const putBalanceAndClock: put.Put = (into, cells) => {
    put.putBalance(into, cells);
    found.databaseNowMs = Math.max(found.databaseNowMs ?? 0, int(cells[CLOCK]));
    found.owns = epoch !== null && flag(cells[CLOCK + 1]);
  };
  const organizations = [...wanted.organizations].toSorted().map((id) => [id]);
  if (epoch === null) read(organizations, { reading: "balances", into: putBalanceAndClock });
  else read(organizations, { reading: "lockedBalances", into: putBalanceAndClock, also: [epoch] });
  const keys = [...wanted.keys];
  const about = monthsAbout(aboutMs);
  read(idsOf(keys), { reading: "keys", into: putKeyAndMonth, also: [about] });
  const { unread, months } = takeOwn(own, wanted, { into: rows, about });
  read(months, { reading: "keyMonths", into: put.putKeyMonth });
  const fromHour = weekFromHour(aboutMs);
  const counted = idsOf(keys.filter(([id]) => days.has(id)));
  read(counted, { reading: "keySpends", into: put.putKeySpend, also: [fromHour] });
  read([...wanted.claims.values()], { reading: "claims", into: put.putClaim });
  read(unread, { reading: "requests", into: putRequestAndMonth });
  read([...wanted.entitlements.values()], { reading: "entitlements", into: put.putEntitlement });
  read(
    [...wanted.routes].map((route) => [route]),
    { reading: "routes", into: put.putRoute },
  );
  read([...wanted.topUps.values()], { reading: "topUps", into: put.putTopUp });
  read([...wanted.reversals.values()], { reading: "reversals", into: put.putReversal });
  read([...wanted.refundables.values()], { reading: "refundables", into: put.putRefundable });
  read([...wanted.quarantined.values()], { reading: "quarantined", into: put.putQuarantined });
  const limits = rates.of(operations, rows);
  const expected = limits.expected();
  const answers = await ask([...questions, ...expected.questions]);
  for (const [index, into] of putting.entries()) for (const row of answers[index] ?? []) into(rows, row);
  expected.take(answers.slice(questions.length));
  const uncounted = keys.filter(([id]) => isUncounted(rows, id));
  if (uncounted.length > 0) {
    for (const [id] of uncounted) days.add(id);
    const [spends] = await askMore([questionAbout(READ.keySpends, idsOf(uncounted), [fromHour])]);
    for (const row of spends ?? []) put.putKeySpend(rows, row);
  }
  for (let more = limits.missing(); more !== null; more = limits.missing())
    more.take(await askMore(more.questions));
  return found;
}

/**
 * Adds remembered requests to the rows. Returns the others as `unread`, and as `months` the key months
 * that are loaded neither with those nor with the keys of admissions, whose months are `about`.
 */
function takeOwn(
  own: OwnRequests,
  { requests, keys }: Wanted,
  { into, about }: { into: Rows; about: readonly string[] },
): { unread: (readonly string[])[]; months: (readonly string[])[] } {
  const unread: (readonly string[])[] = [];
  const months = new Map<string, readonly string[]>();
  for (const [id, asked] of requests) {
    const row = own.rowOf(...asked);
    if (row === undefined) {
      unread.push(asked);
      continue;
    }
    into.requests.set(id, row);
    const { organizationId, keyId, month } = row;
    if (!about.includes(month) || !keys.has(rowId(organizationId, keyId)))
      months.set(rowId(organizationId, keyId, month), [organizationId, keyId, month]);
  }
  return { unread, months: [...months.values()] };
}

const idsOf = (wants: readonly (readonly [id: string, parts: readonly string[]])[]): (readonly string[])[] =>
  wants.map(([, parts]) => parts);

/** True for a key with a day or week limit whose days were not asked for. */
function isUncounted({ keys, keySpends }: Rows, id: string): boolean {
  const key = keys.get(id);
  return key !== undefined && countsDays(key) && !keySpends.has(id);
}

/** Returns this month and its neighbours: stamps are lifted by up to an hour, and two clocks may differ a little. */
function monthsAbout(ms: number): string[] {
  const next = nextUtcMonth(ms);
  const first = Date.parse(`${utcMonth(ms)}-01T00:00:00Z`);
  return [utcMonth(first - 1), utcMonth(ms), utcMonth(next)];
}

const putKeyAndMonth: put.Put = (rows, cells) => {
  put.putKey(rows, cells);
  putMonth(rows, cells, widthOf(LOAD.key));
};

const putRequestAndMonth: put.Put = (rows, cells) => {
  put.putRequest(rows, cells);
  putMonth(rows, cells, widthOf(LOAD.request));
};

/** Adds nothing if the key has no row for that month yet. */
function putMonth(rows: Rows, cells: readonly Cell[], from: number): void {
  if (cells[from] !== null) put.putKeyMonth(rows, cells, from);
}

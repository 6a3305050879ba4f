// Loads the rate limits that a batch is decided on, after the balances of their organizations are locked. The first answers
// show whether an organization's balance or a model's routes have limits. Organizations known to have limits are queried at
// once, all others in a second query of the same transaction, so what is remembered here saves a query and decides nothing.
import type { RateDefaults, RatePlace } from "../../domain/rate-limits.ts";
import type { Cell } from "../cell.ts";
import { selected } from "../column-loads.ts";
import { LOAD } from "../columns.ts";
import type { MoneyOperation } from "../decide/decide.ts";
import { hasDefaults, type Subject, unknownTo } from "../decide/rate.ts";
import { type Put, putOpenRequests, putRateLimit } from "../put-rows.ts";
import { type Rows, rowId } from "../rows.ts";
import { type Question, questionAbout } from "./flight.ts";
import { organizationOf } from "../commit/operations.ts";
import type { OwnRequests } from "./own-requests.ts";
import { byRows, parameterRows, namedStatement, transposed } from "./query.ts";
import { Seen } from "./seen.ts";

const COLUMNS = selected(LOAD.rateLimit, "l");

const countedFor = (counted: string): string => `SELECT ${COLUMNS} FROM ${counted}
   JOIN rate_limit l ON l.org_id IN ('', counted.org_id) AND l.key_id IN ('', counted.key_id) AND l.model IN ('', counted.model)`;
const PLACE = [
  ["org_id", "text"],
  ["key_id", "text"],
  ["model", "text"],
] as const;
const LIMITS = byRows("rate_limits", (rows) => countedFor(parameterRows(rows, "counted", PLACE)));
// For requests whose key and model this process does not know: another process admitted them, or they had no limits then.
const LIMITS_OF_REQUESTS = namedStatement(
  "rate_limits_of_requests",
  countedFor(`(SELECT DISTINCT r.org_id, r.key_id, r.model FROM unnest($1::text[], $2::text[]) AS asked (org_id, request_id)
     JOIN request r ON r.org_id = asked.org_id AND r.request_id = asked.request_id) AS counted`),
);
// The running requests of all organizations are fewer than all requests that one organization ever sent.
const RUNNING = namedStatement(
  "running",
  `WITH running AS MATERIALIZED (SELECT org_id, key_id, model FROM request WHERE closed_txn IS NULL)
   SELECT asked.org_id, asked.key_id, asked.model, count(r.org_id)
   FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (org_id, key_id, model)
   LEFT JOIN running r ON r.org_id = asked.org_id
     AND asked.key_id IN ('', r.key_id) AND asked.model IN ('', r.model)
   GROUP BY 1, 2, 3`,
);

/** Questions, and where their answers go. */
interface Asked {
  questions: Question[];
  take(answers: Cell[][][]): void;
}

export class PostgresRates {
  private readonly seen = new Seen();

  constructor(
    readonly defaults: RateDefaults,
    private readonly own: OwnRequests,
  ) {}

  /** Returns what to ask for these operations; the answers go into `rows`. */
  of(operations: readonly MoneyOperation[], rows: Rows): RatesOfBatch {
    return new RatesOfBatch(operations, rows, this);
  }

  /** True if the organization's limits are asked for in the first round. */
  expects(organizationId: string): boolean {
    return this.seen.has(organizationId) || hasDefaults(this.defaults);
  }

  remember(organizationId: string): void {
    this.seen.add(organizationId);
  }

  /** Returns the place of a request that this process admitted. */
  placeOf(requestId: string): RatePlace | undefined {
    return this.own.placeOf(requestId);
  }
}

class RatesOfBatch {
  /** Organizations that had limits the last time: asked for in the first round. */
  private readonly known = new Set<string>();
  /** Operations asked for because the first answers showed limits. */
  private readonly late = new Set<MoneyOperation>();
  private readonly counted = new Set<string>();

  constructor(
    private readonly operations: readonly MoneyOperation[],
    private readonly rows: Rows,
    private readonly rates: PostgresRates,
  ) {}

  /** Returns the questions for organizations that had limits the last time. */
  expected(): Asked {
    const { rates, known } = this;
    const expected: MoneyOperation[] = [];
    for (const operation of this.operations) {
      const organizationId = organizationOf(operation);
      if (!rates.expects(organizationId)) continue;
      known.add(organizationId);
      expected.push(operation);
    }
    return this.limitsOf(expected);
  }

  /** Returns what the answers so far show to be needed; null when nothing is missing. */
  missing(): Asked | null {
    const late = this.operations.filter((operation) => this.isNews(operation));
    if (late.length > 0) {
      for (const operation of late) this.late.add(operation);
      return this.limitsOf(late);
    }
    const { rows, rates } = this;
    if (rows.rateLimits.size === 0 && !hasDefaults(rates.defaults)) return null;
    const subjects: Subject[] = [];
    for (const place of placesOf(this.operations))
      for (const subject of unknownTo(rows, place, rates.defaults))
        if (!this.counted.has(subject.id)) subjects.push(subject);
    return subjects.length === 0 ? null : this.runningOf(subjects);
  }

  /** True if the operation may be limited and has not been asked for yet. */
  private isNews(operation: MoneyOperation): boolean {
    const { balances, routes } = this.rows;
    const organizationId = organizationOf(operation);
    if (this.known.has(organizationId) || this.late.has(operation)) return false;
    if (balances.get(organizationId)?.limited === 1) {
      this.rates.remember(organizationId);
      return true;
    }
    if (operation.kind !== "admit" || operation.admission.asked.kind === "refusal") return false;
    return operation.admission.asked.plan.routes.some(({ route }) => routes.get(route)?.limited === 1);
  }

  private limitsOf(operations: readonly MoneyOperation[]): Asked {
    const places = placesOf(operations);
    const unknown: string[][] = [];
    for (const operation of operations)
      for (const { organizationId, requestId } of requestsOf(operation)) {
        const place = this.rates.placeOf(requestId);
        if (place?.organizationId === organizationId) places.add(place);
        else unknown.push([organizationId, requestId]);
      }
    const questions: Question[] = [];
    if (!places.isEmpty) questions.push(questionAbout(LIMITS, rowsOf(places)));
    if (unknown.length > 0) questions.push({ statement: LIMITS_OF_REQUESTS, values: transposed(unknown, 2) });
    return this.asking(questions, putRateLimit);
  }

  private runningOf(subjects: readonly Subject[]): Asked {
    for (const { id } of subjects) this.counted.add(id);
    const places = new Places();
    for (const subject of subjects) places.add(subject);
    const values = transposed(rowsOf(places), 3);
    return this.asking([{ statement: RUNNING, values }], putOpenRequests);
  }

  private asking(questions: Question[], put: Put): Asked {
    return {
      questions,
      take: (answers) => {
        for (const cells of answers.flat()) put(this.rows, cells);
      },
    };
  }
}

/** The distinct places of a batch, which has few for many requests. Consecutive equal ones are found without an id. */
class Places {
  private readonly found = new Map<string, RatePlace>();
  private last: RatePlace | null = null;

  add(place: RatePlace): void {
    const { organizationId, keyId, model } = place;
    const { last } = this;
    if (last?.organizationId === organizationId && last.keyId === keyId && last.model === model) return;
    this.last = place;
    this.found.set(rowId(organizationId, keyId, model), place);
  }

  get isEmpty(): boolean {
    return this.last === null;
  }

  [Symbol.iterator](): Iterator<RatePlace> {
    return this.found.values();
  }
}

/** Returns the places of the admissions. */
function placesOf(operations: readonly MoneyOperation[]): Places {
  const places = new Places();
  for (const operation of operations) {
    if (operation.kind !== "admit" || operation.admission.asked.kind === "refusal") continue;
    const { organizationId, keyId } = operation.admission.credential;
    places.add({ organizationId, keyId, model: operation.admission.asked.plan.model });
  }
  return places;
}

const rowsOf = (places: Iterable<RatePlace>): string[][] =>
  Array.from(places, ({ organizationId, keyId, model }) => [organizationId, keyId, model]);

/** Returns the requests whose hold an operation changes. */
function requestsOf(operation: MoneyOperation): readonly { organizationId: string; requestId: string }[] {
  switch (operation.kind) {
    case "settle":
      return [operation.settlement];
    case "void":
      return [operation.voiding];
    case "by_hand":
      return [operation.ending];
    case "admit":
      return operation.admission.lowerings ?? [];
    case "checkpoint":
    case "top_up":
    case "reverse":
      return [];
  }
}

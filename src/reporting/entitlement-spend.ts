// The spend under an entitlement: charges of its model for requests admitted from its approval until its end.
// Whole hours come from the roll-ups, read once for all entitlements of a model; the hours in which one begins and ends
// from the requests themselves.
import { HOUR_MS } from "../domain/durations.ts";
import { type NanoUsd, nanoUsd } from "../domain/money.ts";
import { exactUsd } from "../store/exact-sum.ts";
import { exactTotal, from, rowsOf, theRow } from "../store/query.ts";
import { inHundreds, type Sql } from "../store/sql.ts";
import { hoursUsed } from "./hours-used.ts";
import { idsAround } from "./request-time.ts";

interface Used {
  org_id: string;
  model: string;
}

interface Approved extends Used {
  fromMs: number;
  /** Infinity while it is active. */
  toMs: number;
}

/** By entitlement id; an entitlement that was never approved has no entry. */
export async function spendsOf(sql: Sql, ids: readonly string[]): Promise<Map<string, NanoUsd>> {
  const spends = new Map<string, NanoUsd>();
  for (const some of inHundreds(ids)) {
    const query = from
      .selectFrom("entitlement")
      .select(["id", "org_id", "model", "approved_at", "revoked_at", "expires_at"])
      .where("id", "in", some)
      .where("approved_at", "is not", null);
    const approved = await rowsOf(sql, query);
    const first = Math.min(...approved.map(({ approved_at }) => withinTime(Number(approved_at))));
    const hours = new HourlyCharges(sql, Math.floor(first / HOUR_MS));
    for (const { id, org_id, model, approved_at, revoked_at, expires_at } of approved) {
      const toMs = Math.min(endOf(revoked_at), endOf(expires_at));
      const fromMs = withinTime(Number(approved_at));
      spends.set(id, await spendOf(sql, hours, { org_id, model, fromMs, toMs }));
    }
  }
  return spends;
}

const endOf = (ms: bigint | null): number =>
  ms === null ? Number.POSITIVE_INFINITY : withinTime(Number(ms));

const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");
/** Damaged times count as the beginning or end of all time. */
const withinTime = (ms: number): number => Math.min(Math.max(ms, 0), LAST_MS);

async function spendOf(sql: Sql, hours: HourlyCharges, approved: Approved): Promise<NanoUsd> {
  const { fromMs, toMs } = approved;
  const [firstWhole, lastWhole] = [Math.ceil(fromMs / HOUR_MS), Math.floor(toMs / HOUR_MS)];
  if (lastWhole <= firstWhole) return await ofRequests(sql, approved);
  const ends = { ...approved, fromMs: lastWhole * HOUR_MS };
  return nanoUsd(
    (await ofRequests(sql, { ...approved, toMs: firstWhole * HOUR_MS })) +
      (await hours.between(approved, firstWhole, lastWhole)) +
      (Number.isFinite(toMs) ? await ofRequests(sql, ends) : 0n),
  );
}

/** Charges by hour, from a given hour on, for each organization and model that is asked for. */
class HourlyCharges {
  private readonly read = new Map<string, Promise<{ hour: number; upTo: bigint }[]>>();

  constructor(
    private readonly sql: Sql,
    private readonly since: number,
  ) {}

  /** The charges from the hour `first` up to, but not including, `after`. */
  async between(used: Used, first: number, after: number): Promise<bigint> {
    const id = `${used.org_id} ${used.model}`;
    const read = this.read.get(id) ?? this.readAll(used);
    this.read.set(id, read);
    const totals = await read;
    return before(totals, after) - before(totals, first);
  }

  private async readAll({ org_id, model }: Used): Promise<{ hour: number; upTo: bigint }[]> {
    const query = hoursUsed(this.sql, org_id, { first: this.since, model })
      .select((eb) => ["hour" as const, exactTotal(eb.ref("charge")).as("charge")])
      .groupBy("hour")
      .orderBy("hour");
    let upTo = 0n;
    return (await rowsOf(this.sql, query)).map(({ hour, charge }) => {
      upTo += exactUsd(charge);
      return { hour: Number(hour), upTo };
    });
  }
}

/** The total before an hour: that of the last earlier hour, found by binary search. */
function before(totals: readonly { hour: number; upTo: bigint }[], hour: number): bigint {
  let [from, to] = [0, totals.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((totals[middle]?.hour ?? 0) < hour) from = middle + 1;
    else to = middle;
  }
  return totals[from - 1]?.upTo ?? 0n;
}

async function ofRequests(sql: Sql, { org_id, model, fromMs, toMs }: Approved): Promise<NanoUsd> {
  const ids = idsAround({ fromMs, toMs });
  const query = from
    .selectFrom("request")
    .select((eb) => exactTotal(eb.ref("charge")).as("charge"))
    .where((eb) => eb.and({ org_id, model, state: "settled" }))
    .where("request_id", ">=", ids.from)
    .where("request_id", "<", ids.to)
    .where("admitted_at", ">=", BigInt(fromMs))
    .$if(Number.isFinite(toMs), (requests) => requests.where("admitted_at", "<", BigInt(toMs)));
  return exactUsd((await theRow(sql, query)).charge);
}

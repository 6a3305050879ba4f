// The statement of one month: opening, movements, closing; its sums are the ledger's.
import { z } from "zod";
import { count, creditKind, orgId, time, usd } from "./fields.ts";

/** A month in UTC. */
const month = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])$/, "must be a month like 2026-11")
  .meta({ examples: ["2026-11"] });

const movement = z.object({
  at: time,
  kind: creditKind,
  amount_usd: usd.describe("Signed by its effect on the balance."),
  source: z.string(),
  reference: z.string(),
  request: z.string().nullable().describe("The refunded request; null for other movements."),
});

const charges = z.object({
  model: z.string(),
  key: z.object({ id: z.string(), name: z.string() }),
  requests: count.describe("Charged requests only."),
  charge_usd: usd,
});

/** What a list leaves out, so that it still adds up. */
const others = z.object({ rows: count, amount_usd: usd });

export const statement = z
  .object({
    org: z.object({ id: orgId, name: z.string() }),
    month,
    from: time,
    to: time.describe("The first instant after the month; for the current month, when this was made."),
    final: z.boolean().describe("False while the month is still running."),
    made_at: time,
    opening_usd: usd.describe("available + held - debt before the month's first entry."),
    purchases_usd: usd,
    grants_usd: usd,
    refunds_usd: usd,
    charges_usd: usd,
    chargebacks_usd: usd,
    closing_usd: usd.describe("opening + purchases + grants + refunds - charges - chargebacks."),
    available_usd: usd,
    held_usd: usd,
    debt_usd: usd,
    drift_usd: usd.describe(
      "The difference between closing and available + held - debt: 0.000000000, or a bug.",
    ),
    movements: z.array(movement),
    other_movements: others.nullable().describe("Those beyond the first thousand."),
    charges: z.array(charges).describe("By model and key, the largest first."),
    other_charges: others
      .nullable()
      .describe("Those beyond the first thousand, and charges that no request accounts for."),
    entries: z.object({ first: count.nullable(), last: count.nullable(), count }),
    head: z
      .object({ n: count, hash: z.string() })
      .nullable()
      .describe(
        "The chain's head at the end of the month: the last entry in it or before it, which all others lead to.",
      ),
  })
  .meta({ id: "Statement" });

export type StatementJson = z.output<typeof statement>;

/** Default: the current month. */
export const statementQuery = z.strictObject({ org: orgId, month: month.optional() });

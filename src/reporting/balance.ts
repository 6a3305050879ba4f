// An organization's balance, as every API prints it.
import type { BalanceJson } from "../api/shapes/records.ts";
import { formatUsd } from "../domain/money.ts";
import type { BalanceRecord } from "../ledger/records.ts";

export const printBalance = (balance: BalanceRecord): BalanceJson => ({
  org: balance.organizationId,
  available_usd: formatUsd(balance.available),
  held_usd: formatUsd(balance.held),
  spent_usd: formatUsd(balance.spent),
  purchased_usd: formatUsd(balance.purchased),
  granted_usd: formatUsd(balance.granted),
  debt_usd: formatUsd(balance.debt),
  currency: "USD",
  paid_workspace: balance.paidWorkspace,
});

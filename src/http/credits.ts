// GET /v1/credits: what the caller's organization has, holds and has spent (wire.md §5).
import { formatUsd } from "../domain/money.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { missingBalance } from "../ledger/unreadable.ts";
import type { Handler } from "./context.ts";
import { withKey } from "./inference-door.ts";
import { replyJson } from "./reply.ts";

export const credits = (ledger: Pick<Ledger, "balance" | "read">): Handler =>
  withKey(ledger, async (context, key) => {
    const balance = await ledger.balance(key.organizationId);
    if (balance === null) throw missingBalance(key.organizationId);
    return replyJson(context, {
      object: "credits",
      organization: key.organizationId,
      available_usd: formatUsd(balance.available),
      held_usd: formatUsd(balance.held),
      spent_usd: formatUsd(balance.spent),
      purchased_usd: formatUsd(balance.purchased),
      currency: "USD",
      paid_workspace: balance.paidWorkspace,
    });
  });

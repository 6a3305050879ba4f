// An operator gives back what a request cost, from its own record.
import { Button, Group } from "@mantine/core";
import { useState } from "react";
import type { ActivityRow } from "../../api/spend.ts";
import { RefundDialog } from "../../components/refund-dialog.tsx";
import { isZero } from "../../format/money.ts";
import { useMembership } from "../../membership.tsx";
import { texts } from "../../texts.ts";

export function Refund({ of: { id, state, charge_usd } }: { of: ActivityRow }) {
  const { session } = useMembership();
  // The row that it was opened from: the arrows may have moved the drawer on.
  const [request, setRequest] = useState<string | null>(null);
  return (
    <>
      {session.person.operator && state === "settled" && !isZero(charge_usd) && (
        <Group>
          <Button size="compact-sm" variant="default" onClick={() => setRequest(id)}>
            {texts.operatorCredits.refundThis}
          </Button>
        </Group>
      )}
      {request !== null && <RefundDialog request={request} onClose={() => setRequest(null)} />}
    </>
  );
}

// An operator's refund of a request, from its own record.
import { Button, Group } from "@mantine/core";
import { useState } from "react";
import type { Row } from "../../api/routes.ts";
import { RefundDialog } from "../operator/credits/refund.tsx";
import { isZero } from "../../format/money.ts";
import { useMembership } from "../../membership.tsx";
import { activityTexts as words } from "./texts.ts";

type ActivityRow = Row<"GET /orgs/{org}/activity">;

export function Refund({ of: { id, charge_usd } }: { of: ActivityRow }) {
  const { session } = useMembership();
  // The request that it was opened for: the arrows may have moved the drawer on.
  const [request, setRequest] = useState<string | null>(null);
  return (
    <>
      {session.person.operator && !isZero(charge_usd) && (
        <Group>
          <Button size="compact-sm" variant="default" onClick={() => setRequest(id)}>
            {words.refund}
          </Button>
        </Group>
      )}
      {request !== null && <RefundDialog request={request} onClose={() => setRequest(null)} />}
    </>
  );
}

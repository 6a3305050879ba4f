// What needs attention, each line a link to the thing itself.
import { Button, Stack } from "@mantine/core";
import { useState } from "react";
import type { Answer } from "../../api/routes.ts";
import { Caution } from "../../components/caution.tsx";
import { formatCount } from "../../format/count.ts";
import { readableTimes } from "../../format/time.ts";
import { useMembership } from "../../membership.tsx";
import { type OrganizationPage, path } from "../../path-builder.ts";
import { overviewTexts as words } from "./texts.ts";
import { UnusualDay } from "./unusual.tsx";
import { Warning } from "./warning.tsx";

type Overview = Answer<"GET /orgs/{org}/overview">;

const TARGETS: Record<Overview["attention"][number]["kind"], OrganizationPage> = {
  stopped: "billing",
  key_near_limit: "keys",
  key_at_limit: "keys",
  key_blocked_by_holds: "keys",
  entitlement_ends: "research",
  low_balance: "billing",
  debt: "billing",
  route_closed: "models",
  release_ends: "models",
  top_up_failed: "billing",
  alert_holds: "alerts",
};

/** More are folded: of a thousand keys, each may be at its limit. */
const SHOWN = 6;

export function Attention({ org, of: { attention, unusual } }: { org: string; of: Overview }) {
  const [all, setAll] = useState(false);
  const { sees } = useMembership();
  if (attention.length === 0 && unusual === null) return null;
  const shown = all ? attention : attention.slice(0, SHOWN);
  return (
    <Caution title={words.attention}>
      <Stack gap={4}>
        {unusual !== null && <UnusualDay org={org} of={unusual} />}
        {shown.map(({ kind, target, search, text }) => (
          <Warning
            key={`${kind} ${target} ${text}`}
            {...(TARGETS[kind] === "keys" && target !== null
              ? { to: path.key(org, target) }
              : {
                  to: sees(TARGETS[kind]) ? path.organization(org, TARGETS[kind]) : null,
                  search: search === null ? {} : { search },
                })}
          >
            {readableTimes(text)}
          </Warning>
        ))}
        {shown.length < attention.length && (
          <Button
            size="compact-sm"
            variant="default"
            style={{ alignSelf: "flex-start" }}
            onClick={() => setAll(true)}
          >
            {words.allWarnings(formatCount(attention.length))}
          </Button>
        )}
      </Stack>
    </Caution>
  );
}

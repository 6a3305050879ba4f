// What needs a look, each line a link to the very thing.
import { Alert, Anchor, Button, Stack } from "@mantine/core";
import { useState } from "react";
import type { Answer } from "../../api/routes.ts";
import { Icon } from "../../components/icon.tsx";
import { formatCount } from "../../format/count.ts";
import { BareLink } from "../../components/link.tsx";
import { type OrganizationPage, path } from "../../path-builder.ts";
import { overviewTexts as words } from "./texts.ts";

type Overview = Answer<"GET /orgs/{org}/overview">;

const TARGETS: Record<Overview["attention"][number]["kind"], OrganizationPage> = {
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

export function Attention({ org, of: { attention } }: { org: string; of: Overview }) {
  const [all, setAll] = useState(false);
  if (attention.length === 0) return null;
  const shown = all ? attention : attention.slice(0, SHOWN);
  return (
    <Alert
      color="yellow"
      variant="light"
      title={words.attention}
      icon={<Icon name="warning" />}
      styles={{ title: { color: "var(--mantine-color-text)" }, icon: { color: "var(--mantine-color-text)" } }}
    >
      <Stack gap={4}>
        {shown.map(({ kind, target, search, text }) => (
          <Anchor
            key={`${kind} ${target} ${text}`}
            size="sm"
            c="var(--mantine-color-text)"
            td="underline"
            className="name"
            renderRoot={(props) => (
              <BareLink
                {...(TARGETS[kind] === "keys" && target !== null
                  ? { to: path.key(org, target) }
                  : {
                      to: path.organization(org, TARGETS[kind]),
                      search: search === null ? {} : { search },
                    })}
                {...props}
              />
            )}
          >
            {text}
          </Anchor>
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
    </Alert>
  );
}

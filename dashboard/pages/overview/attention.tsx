// What needs a look, each line a link to the very thing.
import { Alert, Anchor, Stack } from "@mantine/core";
import type { Answer } from "../../api/routes.ts";
import { Icon } from "../../components/icon.tsx";
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

export const Attention = ({ org, of: { attention } }: { org: string; of: Overview }) =>
  attention.length === 0 ? null : (
    <Alert
      color="yellow"
      variant="light"
      title={words.attention}
      icon={<Icon name="warning" />}
      styles={{ title: { color: "var(--mantine-color-text)" }, icon: { color: "var(--mantine-color-text)" } }}
    >
      <Stack gap={4}>
        {attention.map(({ kind, target, search, text }) => (
          <Anchor
            key={`${kind} ${target}`}
            size="sm"
            c="var(--mantine-color-text)"
            td="underline"
            className="name"
            renderRoot={(props) => (
              <BareLink
                to={path.organization(org, TARGETS[kind])}
                search={search === null ? {} : { search }}
                {...props}
              />
            )}
          >
            {text}
          </Anchor>
        ))}
      </Stack>
    </Alert>
  );

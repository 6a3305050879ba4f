// One key: its use of its limits, its settings, its spend and refusals, and its actions. Ended keys keep their page:
// past usage stays.
import { Button, Code, Group, Paper, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "../../api/client.ts";
import { read } from "../../api/read.ts";
import type { Answer } from "../../api/routes.ts";
import { ButtonLink, Link } from "../../components/link.tsx";
import { Page, Section } from "../../components/page.tsx";
import { RangeChoice } from "../../components/range-choice.tsx";
import { RateLimits } from "../../components/rate-limits.tsx";
import { Empty, Loaded, Loading } from "../../components/states.tsx";
import { rateTexts } from "../../components/texts.ts";
import { oneOf, useFilters } from "../../filters.ts";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { type Act, KeyActs } from "./acts.tsx";
import { KeyFacts } from "./key-facts.tsx";
import { KeyLimits } from "./key-limits.tsx";
import { KeyUse, RANGES } from "./key-use.tsx";
import { KeyStateBadge, StateTime } from "./parts.tsx";
import type { KeyAct } from "./row-menu.tsx";
import { isOver, shownName } from "./state.ts";
import { keysTexts } from "./texts.ts";

const words = keysTexts.one;

type Key = Answer<"GET /orgs/{org}/keys/{key}">;

const SHAPE = {
  range: oneOf(RANGES, "7d"),
  /** A link from elsewhere opens the form. */
  act: oneOf(["", "edit"], ""),
};

export function KeyPage() {
  const { org } = useMembership();
  const { key = "" } = useParams({ strict: false }) as { key?: string };
  const found = useQuery({
    ...read("GET /orgs/{org}/keys/{key}", { org: org.id, key }),
    refetchInterval: 15_000,
  });
  const { error } = found;
  if (error instanceof ApiError && (error.status === 404 || error.status === 400)) return <Unknown />;
  return (
    <Loaded query={found} loading={<Loading lines={8} />}>
      {(of) => <OneKey key={of.id} of={of} />}
    </Loaded>
  );
}

function Unknown() {
  const { org } = useMembership();
  return (
    <Page title={words.unknown}>
      <Empty icon="keys" action={<ButtonLink to={path.organization(org.id, "keys")}>{words.all}</ButtonLink>}>
        {words.unknownHelp}
      </Empty>
    </Page>
  );
}

function OneKey({ of }: { of: Key }) {
  const { org } = useMembership();
  const [{ range, act: asked }, setFilters] = useFilters(SHAPE);
  const open = of.changeable && !isOver(of);
  const [act, setAct] = useState<Act | null>(() =>
    open && asked === "edit" ? { kind: "edit", key: of } : null,
  );
  const start = (kind: KeyAct): void => setAct({ kind, key: of });
  const close = (): void => {
    setAct(null);
    if (asked !== "") setFilters({ act: "" });
  };
  return (
    <Page
      title={shownName(of)}
      above={
        <Link to={path.organization(org.id, "keys")} size="sm">
          ← {words.all}
        </Link>
      }
      actions={open ? <Acts of={of} start={start} /> : undefined}
    >
      <Group gap="xs">
        <KeyStateBadge of={of} />
        <StateTime of={of} />
        <Code className="name">
          {of.prefix}…{of.last_four}
        </Code>
        <Text size="sm">{keysTexts[of.scope]}</Text>
      </Group>
      <div className="halves">
        <KeyLimits of={of} />
        <KeyFacts of={of} org={org.id} />
      </div>
      <Section
        title={words.use}
        actions={
          <RangeChoice
            ranges={RANGES}
            value={range}
            of={SHAPE.range}
            set={(chosen) => setFilters({ range: chosen })}
          />
        }
      >
        <KeyUse org={org.id} of={of} range={range} mend={open ? start : null} />
      </Section>
      {!isOver(of) && (
        <Section title={rateTexts.title}>
          <Paper withBorder p="md">
            <RateLimits keyId={of.id} />
          </Paper>
        </Section>
      )}
      <KeyActs org={org.id} act={act} onClose={close} />
    </Page>
  );
}

const Acts = ({ of, start }: { of: Key; start: (act: KeyAct) => void }) => (
  <>
    {(["edit", of.status === "paused" ? "resume" : "pause", "replace"] as const).map((act) => (
      <Button key={act} size="xs" variant="default" onClick={() => start(act)}>
        {keysTexts[act]}
      </Button>
    ))}
    <Button size="xs" variant="default" c="var(--tone-bad)" onClick={() => start("revoke")}>
      {keysTexts.revoke}
    </Button>
  </>
);

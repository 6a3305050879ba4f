// Refusals by cause: how often, the reason as it stands now, and how to fix it.
import { Button, Group, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Answer } from "../../api/routes.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Ago } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { NextStep } from "../../components/next-step.tsx";
import { Section } from "../../components/page.tsx";
import { Parts } from "../../components/parts.tsx";
import { formatCount } from "../../format/count.ts";
import { readableTimes } from "../../format/time.ts";
import { path } from "../../path-builder.ts";
import { overviewTexts as words } from "./texts.ts";

type Overview = Answer<"GET /orgs/{org}/overview">;
type Cause = Overview["refusals"][number];

interface RefusalsProps {
  org: string;
  range: string;
  of: Pick<Overview, "refusals">;
  /** For one key, on its page: links lead to its requests, and fixes are made right there. */
  ofKey?: { id: string; mend: (code: string) => ReactNode };
}

/** The others are one click away. */
const SHOWN = 6;

export function Refusals({ org, range, of: { refusals }, ofKey }: RefusalsProps) {
  const [all, setAll] = useState(false);
  if (refusals.length === 0) return null;
  const columns: Column<Cause>[] = [
    {
      title: words.cause,
      always: true,
      cell: ({ code, model, key, cause, next, instead }) => (
        <Stack gap={2} maw="min(66vw, 100cqi - 7rem)">
          <Link
            to={path.organization(org, "activity")}
            search={{
              range,
              state: "refused",
              code,
              ...(model !== null && { model }),
              ...(key !== null && { key: key.id }),
              ...(ofKey !== undefined && { key: ofKey.id }),
            }}
            size="sm"
            className="name"
            maw="100%"
          >
            <Parts
              of={[model, ofKey === undefined ? key?.name : null, code]
                .filter((word) => typeof word === "string")
                .join(" · ")}
            />
          </Link>
          <Text size="xs" c="dimmed" className="name" maw="100%">
            {readableTimes(cause)}
          </Text>
          <Group gap="xs">
            <Remedy org={org} of={{ next, instead }} />
            {next !== null &&
              (ofKey?.mend(code) ?? <NextStep code={code} of={{ org, model, key: key?.id ?? null }} />)}
          </Group>
        </Stack>
      ),
    },
    {
      title: words.refused,
      figures: true,
      always: true,
      cell: ({ requests }) => formatCount(requests),
    },
    { title: words.last, cell: ({ last_at }) => <Ago at={last_at} /> },
  ];
  return (
    <Section title={words.refusals}>
      <DataTable
        label={words.refusals}
        rows={all ? refusals : refusals.slice(0, SHOWN)}
        rowKey={({ code, model, key }) => JSON.stringify([code, model, key?.id])}
        columns={columns}
      />
      {!all && refusals.length > SHOWN && (
        <Button
          size="compact-sm"
          variant="default"
          style={{ alignSelf: "flex-start" }}
          onClick={() => setAll(true)}
        >
          {words.allCauses(formatCount(refusals.length))}
        </Button>
      )}
    </Section>
  );
}

/** The model to use instead, or what to do. */
const Remedy = ({ org, of: { next, instead } }: { org: string; of: Pick<Cause, "next" | "instead"> }) => (
  <Text size="sm" className="name" maw="min(100%, 35rem)">
    {next === null ? (
      words.mended
    ) : instead === null ? (
      `→ ${next}`
    ) : (
      <>
        {words.use}{" "}
        <Link to={path.organization(org, "models")} search={{ search: instead }} size="sm" className="name">
          {instead}
        </Link>
      </>
    )}
  </Text>
);

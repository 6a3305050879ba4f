// A key's facts and settings: who made it and when, its use, its expiry, its models and output limit, the key it
// replaced.
import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Answer } from "../../api/routes.ts";
import { Copyable } from "../../components/copy.tsx";
import { Ago, Time } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { formatCount } from "../../format/count.ts";
import { path } from "../../path-builder.ts";
import { Maker } from "./parts.tsx";
import { keysTexts } from "./texts.ts";

const words = keysTexts.one;

type Key = Answer<"GET /orgs/{org}/keys/{key}">;

export const KeyFacts = ({ of, org }: { of: Key; org: string }) => (
  <Paper withBorder p="md" component="section" aria-label={words.facts}>
    <Stack gap="xs">
      <Title order={2}>{words.facts}</Title>
      <dl className="facts">
        <Fact name={keysTexts.columns.by}>
          <Maker of={of.created_by} />
        </Fact>
        <Fact name={words.created}>
          <Time at={of.created_at} />
        </Fact>
        <Fact name={keysTexts.columns.lastUsed}>
          <Ago at={of.last_used_at} />
        </Fact>
        {(of.status !== "revoked" || of.expires_at !== null) && (
          <Fact name={of.status === "expired" ? words.ended : keysTexts.expires}>
            {of.expires_at === null ? keysTexts.expiresNever : <Time at={of.expires_at} />}
          </Fact>
        )}
        {of.paused_at !== null && (
          <Fact name={words.paused}>
            <Time at={of.paused_at} />
          </Fact>
        )}
        {of.revoked_at !== null && of.status === "revoked" && (
          <Fact name={words.revoked}>
            <Time at={of.revoked_at} />
          </Fact>
        )}
        <Fact name={keysTexts.models}>
          <Models org={org} of={of.allowed_models} />
        </Fact>
        <Fact name={keysTexts.output}>
          {of.max_output_tokens === null ? words.asModel : words.tokens(of.max_output_tokens)}
        </Fact>
        {/* A replica of the previous version reports neither. */}
        {of.replaces && (
          <Fact name={words.replaces}>
            <Other org={org} of={of.replaces} />
          </Fact>
        )}
        {of.replaced_by && (
          <Fact name={words.replacedBy}>
            <Other org={org} of={of.replaced_by} />
          </Fact>
        )}
        <Fact name={words.id}>
          <Copyable text={of.id} />
        </Fact>
      </dl>
    </Stack>
  </Paper>
);

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <Text component="dt" size="sm" c="dimmed">
      {name}
    </Text>
    <Text component="dd" size="sm" className="name">
      {children}
    </Text>
  </div>
);

/** The others are one click away. */
const SHOWN = 5;

function Models({ org, of }: { org: string; of: Key["allowed_models"] }) {
  const [all, setAll] = useState(false);
  if (of === null) return keysTexts.modelsAll;
  if (of.length === 0) return words.noModels;
  const shown = all ? of : of.slice(0, SHOWN);
  return (
    <Group gap={6}>
      {shown.map((model) => (
        <Link
          key={model}
          to={path.organization(org, "models")}
          search={{ search: model }}
          size="sm"
          className="name"
        >
          {model}
        </Link>
      ))}
      {shown.length < of.length && (
        <Button size="compact-xs" variant="default" onClick={() => setAll(true)}>
          {words.allModels(formatCount(of.length))}
        </Button>
      )}
    </Group>
  );
}

const Other = ({ org, of }: { org: string; of: NonNullable<Key["replaces"]> }) => (
  <Link to={path.key(org, of.id)} size="sm" className="name">
    {of.name}
    {of.last_four && ` …${of.last_four}`}
  </Link>
);

// Rate limits of the organization or of one of its keys, for all models together or for one: the limits in force, and
// those this person may set. An operator sets the maximum, the organization's admins may set lower limits; a blank
// field removes one's own limit.
import { Button, Group, List, NumberInput, Radio, Select, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Mutation, useChange } from "../api/change.ts";
import { read } from "../api/read.ts";
import type { Row } from "../api/routes.ts";
import { formatCount } from "../format/count.ts";
import { type OwnStanding, useMembership } from "../membership.tsx";
import { allowance } from "../../src/domain/roles.ts";
import { RATE_AT_MOST, RATE_DIMENSIONS, type RateDimension } from "../../src/domain/rate-limits.ts";
import { Form } from "./form.tsx";
import { type Fact, Meanwhile, sinceOpened } from "./meanwhile.tsx";
import { Loaded } from "./states.tsx";
import { dialogTexts, meanwhileTexts, rateTexts as words } from "./texts.ts";

type Limits = Row<"GET /orgs/{org}/limits">;
type Typed = Record<RateDimension, number | "">;

export function RateLimits({ keyId }: { keyId?: string }) {
  const { org } = useMembership();
  const [model, setModel] = useState<string | null>(null);
  const may = wordsOf(org);
  const [by, setBy] = useState<Word>(may[0] ?? "organization");
  const models = useQuery(read("GET /orgs/{org}/models", { org: org.id }));
  const limits = useQuery(
    read(
      "GET /orgs/{org}/limits",
      { org: org.id },
      { ...(keyId !== undefined && { key: keyId }), ...(model !== null && { model }) },
    ),
  );
  return (
    <Stack gap="sm">
      <Select
        label={words.model}
        placeholder={words.allModels}
        searchable
        clearable
        clearButtonProps={{ "aria-label": words.allModels }}
        w={{ base: "100%", sm: 320 }}
        value={model}
        onChange={setModel}
        data={(models.data?.data ?? []).map(({ id }) => id)}
      />
      {may.length > 1 && (
        <Radio.Group
          label={words.by}
          value={by}
          onChange={(value) => setBy(may.find((one) => one === value) ?? by)}
        >
          <Group gap="md" mt={4}>
            {may.map((one) => (
              <Radio key={one} value={one} label={words.words[one]} />
            ))}
          </Group>
        </Radio.Group>
      )}
      <Loaded query={limits}>
        {({ data: [whole, ...within] }) =>
          whole === undefined ? null : (
            <Stack gap="sm">
              <Whole key={`${by} ${whole.model}`} of={whole} by={by} />
              {within.length > 0 && <Within rows={within} />}
            </Stack>
          )
        }
      </Loaded>
    </Stack>
  );
}

/** Who set a limit. */
type Word = "operator" | "organization";

/** What this person may set: the maximum, as an operator; the organization's own limits, as one of its admins. */
const wordsOf = ({ role, operates }: OwnStanding): Word[] => [
  ...(operates ? (["operator"] as const) : []),
  ...(role !== null && allowance(role, "limits.change") !== null ? (["organization"] as const) : []),
];

/** The limits of the organization or the key, as a whole or for one model. */
function Whole({ of, by }: { of: Limits; by: Word }) {
  const { org, may } = useMembership();
  const begun = useState<Begun | null>(null);
  const change = useChange("PATCH /orgs/{org}/limits", { org: org.id }, (saved) =>
    begun[1]({ typed: {}, from: saved }),
  );
  const operates = by === "operator";
  return (
    <RateForm
      of={of}
      begun={begun}
      change={change}
      save={(said) =>
        change.mutate({
          ...(of.key !== null && { key: of.key }),
          ...(of.model !== null && { model: of.model }),
          by,
          ...said,
        })
      }
      operates={operates}
      mayChange={may("limits.change")}
      lead={operates ? words.leadOfOperator : words.lead}
      running
    />
  );
}

/** The limits of a model, which apply to each organization separately; set by operators. */
export function ModelLimits({ model }: { model: string }) {
  const limits = useQuery(read("GET /operator/limits", {}, { model }));
  return <Loaded query={limits}>{(of) => <OfModel of={of} model={model} />}</Loaded>;
}

function OfModel({ of, model }: { of: Limits; model: string }) {
  const begun = useState<Begun | null>(null);
  const change = useChange("PATCH /operator/limits", {}, (saved) => begun[1]({ typed: {}, from: saved }));
  return (
    <RateForm
      of={of}
      begun={begun}
      change={change}
      save={(said) => change.mutate({ model, ...said })}
      operates
      mayChange
      lead={words.leadOfModel}
    />
  );
}

/** The typed values, and the limits that they are to change. */
interface Begun {
  typed: Partial<Typed>;
  from: Limits;
}

interface RateFormProps {
  of: Limits;
  begun: readonly [Begun | null, (begun: Begun | null) => void];
  change: Mutation & { reset: () => void };
  /** The changed limits and the version they are based on. */
  save: (said: Partial<Record<RateDimension, number | null>> & { version: string }) => void;
  /** The fields edit the operator's limits, not the organization's own. */
  operates: boolean;
  mayChange: boolean;
  lead: string;
  /** Shows current use, where everything limited is counted in one place. */
  running?: boolean;
}

function RateForm({
  of,
  begun: [begun, setBegun],
  change,
  save,
  operates,
  mayChange,
  lead,
  running,
}: RateFormProps) {
  const wordIn = (limits: Limits) => (operates ? limits.set : limits.own);
  const { typed, from } = begun ?? { typed: {}, from: of };
  const { on, late } = sinceOpened(change, from, of);
  const changed = RATE_DIMENSIONS.filter(
    (name) => typed[name] !== undefined && (typed[name] === "" ? null : typed[name]) !== wordIn(on)[name],
  );
  const submit = (): void =>
    save({
      ...Object.fromEntries(changed.map((name) => [name, typed[name] === "" ? null : typed[name]])),
      version: on.version,
    });
  const discard = (): void => {
    setBegun(null);
    change.reset();
  };
  const actions = mayChange && (
    <Group gap="sm">
      <Button type="submit" loading={change.isPending} disabled={changed.length === 0}>
        {late ? meanwhileTexts.saveAnyway : dialogTexts.save}
      </Button>
      {running && (
        <Text size="sm" c="dimmed">
          {words.running(formatCount(of.running))}
        </Text>
      )}
    </Group>
  );
  return (
    <Form onSubmit={submit} error={late ? null : change.error} gap="sm" actions={actions}>
      <Text size="sm" c="dimmed">
        {lead}
      </Text>
      {late && (
        <Meanwhile facts={factsOf(of)}>
          <Button size="compact-sm" variant="default" onClick={discard}>
            {meanwhileTexts.discard}
          </Button>
        </Meanwhile>
      )}
      <Group gap="sm" align="flex-start">
        {RATE_DIMENSIONS.map((name) => (
          <NumberInput
            key={name}
            label={words.dimensions[name]}
            data-field={name}
            description={holds(of, name)}
            w={{ base: "100%", sm: 186 }}
            min={1}
            max={RATE_AT_MOST[name]}
            allowDecimal={false}
            allowNegative={false}
            thousandSeparator=","
            placeholder={words.none}
            disabled={!mayChange}
            value={typed[name] ?? wordIn(from)[name] ?? ""}
            onChange={(value) =>
              setBegun({ typed: { ...typed, [name]: typeof value === "number" ? value : "" }, from })
            }
          />
        ))}
      </Group>
    </Form>
  );
}

/** The limit in force, and who set it if not the one who edits it here. */
function holds({ in_force, set, own }: Limits, name: RateDimension): string {
  const limit = in_force[name];
  if (limit === null) return words.noLimit;
  const count = formatCount(limit);
  if (limit === own[name]) return words.ofYourOwn(count);
  return limit === set[name] ? words.ofTheOperator(count) : words.byDefault(count);
}

/** Any change by someone else shows in the limits in force. */
const factsOf = (of: Limits): Fact[] =>
  RATE_DIMENSIONS.map((name) => [words.dimensions[name], holds(of, name)]);

/** Narrower limits within it: on models, or on keys for that model. */
const Within = ({ rows }: { rows: readonly Limits[] }) => (
  <List size="sm">
    {rows.map((row) => (
      <List.Item key={`${row.key} ${row.model}`} className="name">
        {[row.key, row.model].filter((part) => part !== null).join(" · ")}: {inWords(row)}
      </List.Item>
    ))}
  </List>
);

const inWords = ({ in_force }: Limits): string =>
  RATE_DIMENSIONS.flatMap((name) => {
    const limit = in_force[name];
    return limit === null ? [] : [`${formatCount(limit)} ${words.dimensions[name].toLowerCase()}`];
  }).join(", ") || words.noLimit;

// The form of an alert rule: what is watched, the threshold, and who is told.
import { MultiSelect, NumberInput, Select, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ALERT_KINDS, ALERT_THRESHOLDS, type AlertKind } from "../../../src/domain/alert-kinds.ts";
import { type Mutation, useChange } from "../../api/change.ts";
import { read } from "../../api/read.ts";
import type { Body, Row } from "../../api/routes.ts";
import { AmountField } from "../../components/amount-field.tsx";
import { FormDialog } from "../../components/dialogs.tsx";
import { KeySelect } from "../../components/key-select.tsx";
import { type Fact, sinceOpened } from "../../components/meanwhile.tsx";
import { isAmount, trimAmount } from "../../format/amount.ts";
import { alertsTexts as words } from "./texts.ts";
import { dialogTexts, meanwhileTexts } from "../../components/texts.ts";
import { conditionOf, type Names, namesOf, SENTENCES } from "./condition.ts";

type AlertChannel = Row<"GET /orgs/{org}/alerts/channels">;
type AlertRule = Row<"GET /orgs/{org}/alerts/rules">;
type RuleInput = Body<"POST /orgs/{org}/alerts/rules">;

interface RuleDialogProps {
  org: string;
  /** Null for a new rule. */
  of: AlertRule | null;
  channels: readonly AlertChannel[];
  keys: Names;
  onClose: () => void;
}

export function RuleDialog({ org, of, channels, keys, onClose }: RuleDialogProps) {
  const [kind, setKind] = useState<AlertKind>(of?.kind ?? "balance_below");
  const [amount, setAmount] = useState(trimAmount(of?.amount_usd ?? "5"));
  const [percent, setPercent] = useState(of?.percent ?? 90);
  const [days, setDays] = useState(of?.days ?? 7);
  const [key, setKey] = useState(of?.key ?? "");
  const [told, setTold] = useState(of?.channels ?? channels.map(({ id }) => id));
  const [on, setOn] = useState(of?.on ?? true);
  const { mutation, present, save } = useSave(org, of, onClose);
  const threshold = ALERT_THRESHOLDS[kind];
  const rule: RuleInput = {
    kind,
    amount_usd: threshold === "amount_usd" ? amount.trim() : null,
    percent: threshold === "percent" ? percent : null,
    days: threshold === "days" ? days : null,
    key: kind === "key_limit" && key !== "" ? key : null,
    channels: told,
    on,
  };
  return (
    <FormDialog
      title={of === null ? words.addRule : words.editRule}
      action={dialogTexts.save}
      mutation={mutation}
      disabled={threshold === "amount_usd" && !isAmount(amount)}
      onClose={onClose}
      now={present && factsOf(present, { channels: namesOf(channels), keys })}
      onSubmit={() => save(rule)}
    >
      <Select
        label={words.when}
        data-field="kind"
        allowDeselect={false}
        data={ALERT_KINDS.map((value) => ({ value, label: SENTENCES[value]("…") }))}
        value={kind}
        onChange={(value) => setKind(ALERT_KINDS.find((one) => one === value) ?? kind)}
      />
      {kind === "key_limit" && (
        <KeySelect
          org={org}
          label={words.key}
          placeholder={words.everyKey}
          state="usable"
          called={({ name, prefix }) => `${name} · ${prefix}…`}
          value={key}
          onChange={setKey}
          inForm
        />
      )}
      {threshold === "amount_usd" && (
        <AmountField label={words.amount} data-field="amount_usd" value={amount} onChange={setAmount} />
      )}
      {threshold === "percent" && (
        <Whole label={words.percent} field="percent" max={100} value={percent} set={setPercent} />
      )}
      {threshold === "days" && <Whole label={words.days} field="days" max={365} value={days} set={setDays} />}
      <MultiSelect
        label={words.tell}
        data-field="channels"
        description={words.tellHelp}
        data={channels.map(({ id, name }) => ({ value: id, label: name }))}
        value={told}
        onChange={setTold}
      />
      <Switch label={words.on} checked={on} onChange={(event) => setOn(event.currentTarget.checked)} />
    </FormDialog>
  );
}

interface Save {
  mutation: Mutation;
  /** The rule as someone else changed it meanwhile; null if nobody did. */
  present: AlertRule | null;
  save: (rule: RuleInput) => void;
}

/** Adds the rule, or changes the one that the form was filled in from. */
function useSave(org: string, of: AlertRule | null, onDone: () => void): Save {
  const add = useChange("POST /orgs/{org}/alerts/rules", { org }, onDone);
  const change = useChange("PUT /orgs/{org}/alerts/rules/{rule}", { org, rule: of?.id ?? "" }, onDone);
  const { data: rules } = useQuery(read("GET /orgs/{org}/alerts/rules", { org }));
  if (of === null) return { mutation: add, present: null, save: (rule) => add.mutate(rule) };
  const shown = rules?.data.find(({ id }) => id === of.id);
  const { on, late } = sinceOpened(change, of, shown);
  return {
    mutation: change,
    present: late ? on : null,
    save: (rule) => change.mutate({ ...rule, version: on.version }),
  };
}

const factsOf = (rule: AlertRule, { channels, keys }: { channels: Names; keys: Names }): Fact[] => [
  [words.when, conditionOf(rule, keys)],
  [words.tell, rule.channels.map((id) => channels.get(id) ?? id).join(", ") || words.dashboard],
  [words.on, rule.on ? meanwhileTexts.yes : meanwhileTexts.no],
];

const Whole = (props: {
  label: string;
  field: string;
  max: number;
  value: number;
  set: (value: number) => void;
}) => (
  <NumberInput
    label={props.label}
    data-field={props.field}
    min={1}
    max={props.max}
    allowDecimal={false}
    value={props.value}
    onChange={(value) => typeof value === "number" && props.set(value)}
  />
);

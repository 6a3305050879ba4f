// The fields of a key's settings: its limits, its models, its output limit, its expiry.
import { MultiSelect, SimpleGrid, Stack, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { read } from "../../api/read.ts";
import type { Body, Row } from "../../api/routes.ts";
import { AmountField } from "../../components/amount-field.tsx";
import { amountProblem, trimAmount } from "../../format/amount.ts";
import { keysTexts as words } from "./texts.ts";

type Key = Row<"GET /orgs/{org}/keys">;
type Sent = Omit<Body<"PATCH /orgs/{org}/keys/{key}">, "version" | "name">;

/** Blank: no limit. */
export interface TypedSettings {
  limit: string;
  day: string;
  week: string;
  models: string[];
  output: string;
  /** A day, UTC. */
  expires: string;
}

export const typedOf = (key: Key | null): TypedSettings => ({
  limit: trimAmount(key?.limit_usd ?? ""),
  day: trimAmount(key?.day_limit_usd ?? ""),
  week: trimAmount(key?.week_limit_usd ?? ""),
  models: [...(key?.allowed_models ?? [])],
  output: key?.max_output_tokens === null || key === null ? "" : String(key.max_output_tokens),
  expires: key?.expires_at?.slice(0, DAY_LENGTH) ?? "",
});
const DAY_LENGTH = 10;
const SENT_AS = { limit: "limit_usd", day: "day_limit_usd", week: "week_limit_usd" } as const;

const WHOLE = /^[1-9]\d{0,7}$/;
const outputProblem = (typed: string): string | null =>
  typed.trim() === "" || WHOLE.test(typed.trim()) ? null : words.outputWrong;

export const isSound = ({ limit, day, week, output }: TypedSettings): boolean =>
  [...[limit, day, week].map(amountProblem), outputProblem(output)].every((problem) => problem === null);

/** An expiry whose day was not changed stays the same, to the millisecond. */
export function sentOf(typed: TypedSettings, of: Key | null): Sent {
  const bound = (text: string): string | null => (text.trim() === "" ? null : text.trim());
  const output = bound(typed.output);
  const expires = bound(typed.expires);
  return {
    limit_usd: bound(typed.limit),
    day_limit_usd: bound(typed.day),
    week_limit_usd: bound(typed.week),
    allowed_models: typed.models.length === 0 ? null : typed.models,
    max_output_tokens: output === null ? null : Number(output),
    ...(expires !== (of?.expires_at?.slice(0, DAY_LENGTH) ?? null) && { expires_at: expires }),
  };
}

interface SettingsProps {
  org: string;
  typed: TypedSettings;
  set: (typed: TypedSettings) => void;
}

export function SettingsInputs({ org, typed, set }: SettingsProps) {
  const models = useQuery(read("GET /orgs/{org}/models", { org }));
  const known = (models.data?.data ?? []).map(({ id }) => id);
  const amount = (field: "limit" | "day" | "week", label: string, description?: string) => (
    <AmountField
      label={label}
      data-field={SENT_AS[field]}
      {...(description !== undefined && { description })}
      placeholder={words.limitNone}
      value={typed[field]}
      onChange={(usd) => set({ ...typed, [field]: usd })}
    />
  );
  return (
    <Stack gap="sm">
      {amount("limit", words.limit, words.limitHelp)}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        {amount("week", words.weekLimit, words.weekHelp)}
        {amount("day", words.dayLimit, words.dayHelp)}
      </SimpleGrid>
      <MultiSelect
        label={words.models}
        data-field="allowed_models"
        description={words.modelsHelp}
        placeholder={typed.models.length === 0 ? words.modelsAll : ""}
        searchable
        clearable
        data={[...new Set([...known, ...typed.models])]}
        value={typed.models}
        onChange={(chosen) => set({ ...typed, models: chosen })}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          label={words.output}
          data-field="max_output_tokens"
          description={words.outputHelp}
          placeholder={words.outputNone}
          inputMode="numeric"
          value={typed.output}
          error={outputProblem(typed.output)}
          onChange={(event) => set({ ...typed, output: event.currentTarget.value })}
        />
        <TextInput
          type="date"
          label={words.expires}
          data-field="expires_at"
          description={words.expiresHelp}
          value={typed.expires}
          onChange={(event) => set({ ...typed, expires: event.currentTarget.value })}
        />
      </SimpleGrid>
    </Stack>
  );
}

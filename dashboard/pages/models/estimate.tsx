// "What would it cost" for typed token counts; the server calculates it.
import { Group, NumberInput, Paper, Select, Stack, Text, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "../../api/read.ts";
import type { Row } from "../../api/routes.ts";
import { ExactMoney } from "../../components/figures.tsx";
import { Failure, Former } from "../../components/states.tsx";
import { stateTexts } from "../../components/texts.ts";
import { modelsTexts as words } from "./texts.ts";

type Model = Row<"GET /orgs/{org}/models">;

const MAX_TOKENS = 1_000_000_000;

export function EstimateCard({ org, models }: { org: string; models: readonly Model[] }) {
  const [terms, setTerms] = useState({
    model: models[0]?.id ?? "",
    input_tokens: 1000,
    cached_tokens: 0,
    output_tokens: 500,
  });
  const [asked] = useDebouncedValue(terms, 250);
  const estimate = useQuery({
    ...read("GET /orgs/{org}/models/estimate", { org }, asked),
    placeholderData: keepPreviousData,
  });
  const tokens = (name: "input_tokens" | "cached_tokens" | "output_tokens", label: string) => (
    <NumberInput
      label={label}
      w={150}
      min={0}
      max={MAX_TOKENS}
      allowDecimal={false}
      thousandSeparator=","
      value={terms[name]}
      onChange={(value) => typeof value === "number" && setTerms({ ...terms, [name]: value })}
    />
  );
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Title order={2}>{words.estimate}</Title>
        <Group gap="sm" align="flex-end">
          <Select
            label={words.model}
            w={220}
            allowDeselect={false}
            data={models.map(({ id }) => id)}
            value={terms.model}
            onChange={(model) => model !== null && setTerms({ ...terms, model })}
          />
          {tokens("input_tokens", words.input)}
          {tokens("cached_tokens", words.cached)}
          {tokens("output_tokens", words.output)}
        </Group>
        {estimate.error !== null && <Failure error={estimate.error} />}
        {estimate.data !== undefined && (
          <Former query={estimate} quiet>
            <Text role="status">
              {words.result}{" "}
              <b>
                <ExactMoney usd={estimate.data.charge_usd} />
              </b>
              {estimate.data.minimum_applied && `, ${words.resultMinimum}`}
              {estimate.isPlaceholderData && ` · ${stateTexts.renewing}`}
            </Text>
          </Former>
        )}
      </Stack>
    </Paper>
  );
}

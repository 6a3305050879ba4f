// The outcome of a channel's test: polled until its first attempt has ended.
import { Alert } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { OUTCOME_WITHIN_MS, outcomeOf } from "../../../src/domain/delivery-outcome.ts";
import { read } from "../../api/read.ts";
import { Failure } from "../../components/states.tsx";
import { dialogTexts } from "../../components/texts.ts";
import { alertsTexts as words } from "./texts.ts";

const ASK_EVERY_MS = 500;

export interface Test {
  delivery: string;
  /** The channel's name. */
  channel: string;
  sentAtMs: number;
}

const COLOURS = { delivered: "teal", tried_again: "orange", failed: "red", unknown: "gray" } as const;

export function TestOutcome({ org, test, onClose }: { org: string; test: Test; onClose: () => void }) {
  const queries = useQueryClient();
  const { data, error, dataUpdatedAt } = useQuery({
    ...read("GET /orgs/{org}/alerts/deliveries/{delivery}", { org, delivery: test.delivery }),
    refetchInterval: ({ state }) =>
      (state.data !== undefined && outcomeOf(state.data) !== "unknown") ||
      state.dataUpdatedAt - test.sentAtMs > OUTCOME_WITHIN_MS
        ? false
        : ASK_EVERY_MS,
  });
  const outcome = data === undefined ? "unknown" : outcomeOf(data);
  useEffect(() => {
    // The list below says the same.
    if (outcome !== "unknown")
      void queries.invalidateQueries({ queryKey: ["orgs", org, "alerts", "deliveries", "pages"] });
  }, [queries, org, outcome]);
  if (error !== null && data === undefined) return <Failure error={error} />;
  const late = dataUpdatedAt - test.sentAtMs > OUTCOME_WITHIN_MS;
  return (
    <Alert
      color={COLOURS[outcome]}
      role="status"
      mb="sm"
      p="xs"
      withCloseButton
      closeButtonLabel={dialogTexts.close}
      onClose={onClose}
    >
      <span className="name">
        {words.outcomes[outcome]({
          name: test.channel,
          status: data?.status ?? null,
          reason: data?.reason ?? "",
          late,
        })}
      </span>
    </Alert>
  );
}

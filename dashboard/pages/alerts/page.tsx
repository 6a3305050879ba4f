// Alerts: the rules, the channels, and the deliveries. One message per crossing of a threshold, not per request.
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "../../api/read.ts";
import type { Row } from "../../api/routes.ts";
import { Icon } from "../../components/icon.tsx";
import { Page, Section } from "../../components/page.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { useMembership } from "../../membership.tsx";
import { alertsTexts as words } from "./texts.ts";
import { pageNames } from "../../components/texts.ts";
import { ChannelDialog } from "./channel.tsx";
import { Channels } from "./channels.tsx";
import { namesOf } from "./condition.ts";
import { Deliveries } from "./deliveries.tsx";
import { RuleDialog } from "./rule.tsx";
import { Rules } from "./rules.tsx";

type AlertRule = Row<"GET /orgs/{org}/alerts/rules">;

type Act = { kind: "rule"; of: AlertRule | null } | { kind: "channel" };

export function AlertsPage() {
  const { org, may, session } = useMembership();
  const rules = useQuery(read("GET /orgs/{org}/alerts/rules", { org: org.id }));
  const channels = useQuery(read("GET /orgs/{org}/alerts/channels", { org: org.id }));
  const [act, setAct] = useState<Act | null>(null);
  const close = (): void => setAct(null);
  const mayChange = may("alerts.change");
  const named = namesOf(channels.data?.data);
  const add = mayChange && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAct({ kind: "rule", of: null })}>
      {words.addRule}
    </Button>
  );
  return (
    <Page title={pageNames.alerts} lead={words.lead} actions={add}>
      <Loaded query={rules}>
        {({ data, keys }) =>
          data.length === 0 ? (
            <Empty icon="alerts" action={add}>
              {words.noRules}
            </Empty>
          ) : (
            <Section title={words.rules}>
              <Rules
                org={org.id}
                rows={data}
                channels={named}
                keys={namesOf(keys)}
                edit={mayChange ? (of) => setAct({ kind: "rule", of }) : null}
              />
            </Section>
          )
        }
      </Loaded>
      <Section
        title={words.channels}
        actions={
          mayChange && (
            <Button size="xs" variant="default" onClick={() => setAct({ kind: "channel" })}>
              {words.addChannel}
            </Button>
          )
        }
      >
        <Loaded query={channels}>
          {({ data }) => <Channels org={org.id} rows={data} mayChange={mayChange} />}
        </Loaded>
      </Section>
      <Section title={words.deliveries}>
        <Deliveries org={org.id} channels={named} />
      </Section>
      {act?.kind === "rule" && (
        <RuleDialog
          org={org.id}
          of={act.of}
          channels={channels.data?.data ?? []}
          keys={namesOf(rules.data?.keys)}
          onClose={close}
        />
      )}
      {act?.kind === "channel" && (
        <ChannelDialog
          org={org.id}
          mail={channels.data?.mail ?? false}
          ownAddress={session.person.email}
          onClose={close}
        />
      )}
    </Page>
  );
}

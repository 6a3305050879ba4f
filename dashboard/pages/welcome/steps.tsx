// Four steps with their state: account, organization, key, first request. Each can be skipped and done later.
import { Button, Divider, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { callableModel } from "../../api/models.ts";
import { useChange } from "../../api/change.ts";
import { read } from "../../api/read.ts";
import { Icon } from "../../components/icon.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { type Secret, SecretDialog } from "../../components/secret-dialog.tsx";
import { Failure, Loaded } from "../../components/states.tsx";
import { isZero } from "../../format/money.ts";
import { path } from "../../path-builder.ts";
import { secretTexts } from "../../components/texts.ts";
import { welcomeTexts as words } from "./texts.ts";
import { TestRequest } from "./test-request.tsx";

interface StepsProps {
  org: { org: string; name: string };
  baseUrl: string;
  email: string;
}

export function Steps({ org, baseUrl, email }: StepsProps) {
  const steps = useQuery({
    ...read("GET /orgs/{org}/overview", { org: org.org }),
    select: ({ steps, balance }) => ({ ...steps, canPay: !isZero(balance.available_usd) }),
  });
  return (
    <Loaded query={steps}>
      {({ key, first_request, credits, invited, canPay }) => (
        <Stack gap="lg">
          <Step done title={words.account}>
            <Text size="sm" c="dimmed">
              {email}
            </Text>
          </Step>
          <Step done title={words.organization}>
            <Text size="sm" c="dimmed" className="name">
              {org.name}
            </Text>
          </Step>
          <Step done={key} title={words.key}>
            <KeyStep org={org.org} baseUrl={baseUrl} done={key} />
          </Step>
          <Step done={first_request} title={words.request}>
            <TestRequest org={org.org} canPay={canPay} />
          </Step>
          <Divider />
          <Group justify="space-between">
            <Group gap="xs">
              <ButtonLink to={path.organization(org.org, "billing")} variant="default">
                {credits ? words.credits : words.addCredits}
              </ButtonLink>
              <ButtonLink to={path.organization(org.org, "team")} variant="default">
                {invited ? words.team : words.invite}
              </ButtonLink>
            </Group>
            <ButtonLink to={path.organization(org.org)}>{words.overview}</ButtonLink>
          </Group>
        </Stack>
      )}
    </Loaded>
  );
}

const Step = ({ done, title, children }: { done: boolean; title: string; children: ReactNode }) => (
  <Group align="flex-start" wrap="nowrap" gap="sm" component="section" aria-label={title}>
    <Text c={done ? "var(--tone-good)" : "dimmed"} lh={1} mt={3} component="span">
      <Icon name={done ? "check" : "clock"} size={20} />
    </Text>
    <Stack gap={6} style={{ flex: 1, minWidth: 0 }}>
      <Text fw={600}>
        {title}{" "}
        <Text span size="xs" c="dimmed" fw={400}>
          {done ? words.done : words.open}
        </Text>
      </Text>
      {children}
    </Stack>
  </Group>
);

function KeyStep({ org, baseUrl, done }: { org: string; baseUrl: string; done: boolean }) {
  const [secret, setSecret] = useState<Secret | null>(null);
  const models = useQuery(read("GET /orgs/{org}/models", { org }));
  const create = useChange("POST /orgs/{org}/keys", { org }, ({ name, secret: shown }) => {
    if (shown !== null) setSecret({ name, secret: shown });
  });
  const make = (): void => create.mutate({ name: words.keyName, scope: "standard", limit_usd: null });
  return (
    <>
      <Text size="sm" c="dimmed">
        {done ? words.keyDone : words.keyHelp}
      </Text>
      {create.error !== null && <Failure error={create.error} />}
      {create.isSuccess ? null : (
        <div>
          <Button variant={done ? "default" : "filled"} loading={create.isPending} onClick={make}>
            {done ? words.anotherKey : words.createKey}
          </Button>
        </div>
      )}
      <SecretDialog
        shown={secret}
        baseUrl={baseUrl}
        model={callableModel(models.data?.data)?.id ?? secretTexts.noModel}
        onClose={() => setSecret(null)}
      />
    </>
  );
}

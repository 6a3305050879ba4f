// What a page shows while there is nothing to show: loading, empty, refused, unreachable.
import { Alert, Button, Code, Group, Paper, Skeleton, Stack, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { useParams, useRouterState } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiError } from "../api/client.ts";
import { path } from "../path-builder.ts";
import { texts } from "../texts.ts";
import { Icon, type IconName } from "./icon.tsx";
import { ButtonLink } from "./link.tsx";

/** Grey lines in the shape of what comes. */
export const Loading = ({ lines = 5, height = 36 }: { lines?: number; height?: number }) => (
  <Stack gap="xs" role="status" aria-label={texts.states.loading}>
    {Array.from({ length: lines }, (_, line) => (
      <Skeleton key={line} height={height} />
    ))}
  </Stack>
);

/** Why there is nothing, and the one next action. */
export const Empty = ({
  icon,
  children,
  action,
}: {
  icon: IconName;
  children: ReactNode;
  action?: ReactNode;
}) => (
  <Paper withBorder p="xl">
    <Stack align="center" gap="sm" py="md">
      <Text c="dimmed" component="span" lh={0}>
        <Icon name={icon} size={32} />
      </Text>
      <Text c="dimmed" ta="center" maw={460}>
        {children}
      </Text>
      {action}
    </Stack>
  </Paper>
);

/** The sentence, the code, the request id, and a way on. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const { code, requestId } =
    error instanceof ApiError ? error : { code: texts.states.unreachableCode, requestId: null };
  const asked = ASKED[code];
  const forbidden = error instanceof ApiError && error.status === 403;
  return (
    <Alert
      color={forbidden ? "yellow" : "red"}
      variant="light"
      icon={<Icon name="warning" />}
      title={asked?.title ?? (forbidden ? texts.states.forbidden : texts.states.failed)}
      styles={{ title: { color: "var(--mantine-color-text)" }, icon: { color: "var(--mantine-color-text)" } }}
      role="alert"
    >
      <Stack gap="xs">
        <Text size="sm" className="name">
          {error instanceof Error ? error.message : texts.states.failed}
        </Text>
        <Group gap="xs">
          <Code>{code}</Code>
          {requestId !== null && <Code className="name">{requestId}</Code>}
          {asked !== undefined && <asked.Way />}
          {retry !== undefined && (
            <Button size="compact-sm" variant="default" onClick={retry}>
              {texts.states.retry}
            </Button>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

/** To the sign-in and back to this page. */
function SignInAgain() {
  const next = useRouterState({ select: ({ location }) => location.href });
  return (
    <ButtonLink to={path.signIn()} search={{ next }} size="compact-sm" variant="default">
      {texts.states.signInAgainAction}
    </ButtonLink>
  );
}

function SetUpSecondFactor() {
  const { org } = useParams({ strict: false }) as { org?: string };
  if (org === undefined) return null;
  return (
    <ButtonLink to={path.organization(org, "settings")} size="compact-sm" variant="default">
      {texts.states.secondFactorAction}
    </ButtonLink>
  );
}

/** Refusals that are about the person's own sign-in, with the way to mend it. */
const ASKED: Record<string, { title: string; Way: () => ReactNode }> = {
  not_signed_in: { title: texts.states.signedOut, Way: SignInAgain },
  sign_in_again: { title: texts.states.signInAgain, Way: SignInAgain },
  two_factor_required: { title: texts.states.secondFactorNeeded, Way: SetUpSecondFactor },
};

/** The query's data, or its skeleton, or what went wrong; kept data stay on screen while a retry runs. */
export function Loaded<Data>({
  query,
  children,
  loading = <Loading />,
}: {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
  loading?: ReactNode;
}) {
  const { data, error, isPending } = query;
  const retry = (): void => void query.refetch();
  if (data === undefined) return isPending ? loading : <Failure error={error} retry={retry} />;
  return (
    <>
      {error !== null && <Failure error={error} retry={retry} />}
      {children(data)}
    </>
  );
}

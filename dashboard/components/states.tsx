// What a page shows instead of content: loading, empty, refused, unreachable.
import { Alert, Button, Code, Group, Paper, Skeleton, Stack, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { useParams, useRouterState } from "@tanstack/react-router";
import { type CSSProperties, type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import { ApiError, isFall, isOfOtherVersion, Unreachable } from "../api/client.ts";
import { awaySince, watchAnswers } from "../api/reachable.ts";
import { useAnotherPage } from "../another-page.ts";
import { comeAnew } from "../come-anew.ts";
import { formatSpan, readableTimes } from "../format/time.ts";
import { path } from "../path-builder.ts";
import { useLoading } from "./arrival.ts";
import { stateTexts } from "./texts.ts";
import { Icon, type IconName } from "./icon.tsx";
import { ButtonLink } from "./link.tsx";
import { type Concern, NextStep } from "./next-step.tsx";
import { StateBadge } from "./state-badge.tsx";

/** Grey lines in the shape of the content that is loading. */
export function Loading({ lines = 5, height = 36 }: { lines?: number; height?: number }) {
  useLoading();
  return (
    <Stack gap="xs" role="status" aria-label={stateTexts.loading} className="loading">
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} height={height} />
      ))}
    </Stack>
  );
}

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

const SAID = {
  variant: "light",
  icon: <Icon name="warning" />,
  styles: { title: { color: "var(--mantine-color-text)" }, icon: { color: "var(--mantine-color-text)" } },
  role: "alert",
} as const;

interface FailureProps {
  error: unknown;
  retry?: () => void;
  /** What the refused call was about; default: the organization in the address. */
  about?: Concern;
}

/** The message, the code, the request id, and a next step. */
export function Failure({ error, retry, about }: FailureProps) {
  const { org } = useParams({ strict: false }) as { org?: string };
  const concern = about ?? (org === undefined ? null : { org });
  const { code, requestId } = error instanceof ApiError ? error : { code: codeOf(error), requestId: null };
  const asked = code === null ? undefined : ASKED[code];
  const forbidden = error instanceof ApiError && error.status === 403;
  const isAnother = useAnotherPage(isFall(error));
  if (isAnother === null) return <Loading lines={1} />;
  if (isAnother || isOfOtherVersion(error)) return <OtherVersion error={error} requestId={requestId} />;
  return (
    <Alert
      {...SAID}
      color={forbidden ? "yellow" : "red"}
      title={asked?.title ?? (forbidden ? stateTexts.forbidden : stateTexts.failed)}
    >
      <Stack gap="xs">
        <Text size="sm" className="name">
          {error instanceof Error ? readableTimes(error.message) : stateTexts.failed}
        </Text>
        <Group gap="xs">
          {code !== null && <Code>{code}</Code>}
          {requestId !== null && <Code className="name">{requestId}</Code>}
          {asked !== undefined && <asked.Way />}
          {concern !== null && code !== null && <NextStep code={code} of={concern} />}
          {retry !== undefined && (
            <Button size="compact-sm" variant="default" onClick={retry}>
              {stateTexts.retry}
            </Button>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

/** With the browser's message instead of a code, for support. */
const OtherVersion = ({ error, requestId }: { error: unknown; requestId: string | null }) => (
  <Alert {...SAID} color="yellow" title={stateTexts.otherVersion}>
    <Stack gap="xs">
      <Text size="sm">{stateTexts.otherVersionHelp}</Text>
      <Group gap="xs">
        <Code className="name">{error instanceof ApiError ? error.code : String(error)}</Code>
        {requestId !== null && <Code className="name">{requestId}</Code>}
        <Button size="compact-sm" variant="default" onClick={() => location.reload()}>
          {stateTexts.anew}
        </Button>
      </Group>
    </Stack>
  </Alert>
);

/**
 * For an error of the page itself: reloads the page if the gateway has another version, and reports it if that did
 * not help; reports a bug at once.
 */
export function Fallen({ error }: { error: unknown }) {
  const isAnother = useAnotherPage(isFall(error));
  const [isComing, setComing] = useState(true);
  useEffect(() => {
    if (isAnother !== null) setComing(isAnother && comeAnew());
  }, [isAnother]);
  return isComing ? <Loading lines={6} /> : <Failure error={error} retry={() => location.reload()} />;
}

/** Errors in the page itself have none. */
const codeOf = (error: unknown): string | null =>
  error instanceof Unreachable ? stateTexts.unreachableCode : null;

/** A link to the sign-in in a new tab: what was typed here stays. */
function SignInAgain() {
  const next = useRouterState({ select: ({ location }) => location.href });
  return (
    <>
      <ButtonLink
        to={path.signIn()}
        search={{ next }}
        target="_blank"
        rel="noopener"
        size="compact-sm"
        variant="default"
      >
        {stateTexts.signInAgainAction}
      </ButtonLink>
      <Text size="sm">{stateTexts.signInAgainHelp}</Text>
    </>
  );
}

function SetUpSecondFactor() {
  const { org } = useParams({ strict: false }) as { org?: string };
  if (org === undefined) return null;
  return (
    <ButtonLink to={path.organization(org, "settings")} size="compact-sm" variant="default">
      {stateTexts.secondFactorAction}
    </ButtonLink>
  );
}

/** Refusals about the person's own sign-in, with the way to fix them. */
const ASKED: Record<string, { title: string; Way: () => ReactNode }> = {
  not_signed_in: { title: stateTexts.signedOut, Way: SignInAgain },
  sign_in_again: { title: stateTexts.signInAgain, Way: SignInAgain },
  two_factor_required: { title: stateTexts.secondFactorNeeded, Way: SetUpSecondFactor },
};

/** How often a page whose refresh failed tries again. */
const AGAIN_MS = 5_000;

type Kept = Pick<UseQueryResult, "data" | "error" | "dataUpdatedAt" | "refetch">;

/** Shows a query's error. If older data is on the screen, it only says how old that is, and tries again by itself. */
export function Trouble({ query }: { query: Kept }) {
  const { data, error } = query;
  if (error === null) return null;
  const refused = error instanceof ApiError && error.status < 500;
  return data === undefined || refused ? (
    <Failure error={error} retry={() => void query.refetch()} />
  ) : (
    <Stale query={query} />
  );
}

/** How old the figures are; the frame already tells the whole page if the gateway is away. */
function Stale({ query: { dataUpdatedAt, refetch } }: { query: Kept }) {
  const [now, setNow] = useState(Date.now);
  const isAway = useSyncExternalStore(watchAnswers, awaySince) !== null;
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(Date.now());
      void refetch();
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, [refetch]);
  return (
    <Group gap="xs">
      {!isAway && <StateBadge state="warning" word={stateTexts.stale} />}
      <Text size="sm" c={isAway ? "dimmed" : undefined}>
        {stateTexts.updated(formatSpan(now - dataUpdatedAt))}
      </Text>
      {!isAway && (
        <Text size="sm" role="status">
          {stateTexts.reconnecting}
        </Text>
      )}
    </Group>
  );
}

interface FormerProps {
  query: Pick<UseQueryResult, "isPlaceholderData">;
  /** Used beside another part of the page that says so, or for a single figure. */
  quiet?: boolean;
  children: ReactNode;
}

/** Dims a query's previous data while new data for other terms loads (`placeholderData`), and announces that. */
export const Former = ({ query: { isPlaceholderData }, quiet = false, children }: FormerProps) => (
  <>
    {isPlaceholderData && !quiet && <FormerWord />}
    <div className="old" style={{ display: "contents" }} aria-busy={isPlaceholderData || undefined}>
      {children}
    </div>
  </>
);

/** At the bottom of the screen: the heading and the filters in use are at the top. */
const BELOW = { top: "auto", bottom: "1rem" };
/** After the same delay as the dimming of the rows (style.css). */
const SAID_AFTER_MS = 200;

function FormerWord() {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), SAID_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return late ? (
    <Paper className="overlay" style={BELOW} role="status" withBorder shadow="sm" px="sm" py={4}>
      <Text size="sm">{stateTexts.former}</Text>
    </Paper>
  ) : null;
}

/** In place of figures that could not be read: which, and a retry. */
export const Unread = ({
  what,
  query: { isFetching, refetch },
  ...place
}: {
  what: string;
  query: Pick<UseQueryResult, "isFetching" | "refetch">;
  style?: CSSProperties;
}) => (
  <Paper withBorder p={{ base: "sm", sm: "md" }} role="alert" {...place}>
    <Stack gap="xs" align="flex-start">
      <Text size="sm">{stateTexts.unread(what)}</Text>
      <Button size="compact-sm" variant="default" loading={isFetching} onClick={() => void refetch()}>
        {stateTexts.retry}
      </Button>
    </Stack>
  </Paper>
);

/** The query's data, its skeleton, or its error; cached data stays on screen during a refetch. */
export function Loaded<Data>({
  query,
  children,
  loading = <Loading />,
}: {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
  loading?: ReactNode;
}) {
  const { data, isPending } = query;
  if (data === undefined && isPending) return loading;
  return (
    <>
      <Trouble query={query} />
      {data !== undefined && <Former query={query}>{children(data)}</Former>}
    </>
  );
}

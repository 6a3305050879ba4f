// Publishing a signed release, step by step: its signature, version and expiry are checked and its differences from
// the live release are shown first; then it is published. The server says which step failed.
import { FileInput, Group, List, Text, Textarea, ThemeIcon } from "@mantine/core";
import { useState } from "react";
import { ApiError } from "../../../api/client.ts";
import { useChange } from "../../../api/change.ts";
import { useAsk } from "../../../api/read.ts";
import type { Answer, Row } from "../../../api/routes.ts";
import { FormDialog } from "../../../components/dialogs.tsx";
import { Icon, type IconName } from "../../../components/icon.tsx";
import { StateBadge } from "../../../components/state-badge.tsx";
import { Difference } from "./difference.tsx";
import { operatorRoutesTexts as words } from "./texts.ts";

type OperatedRoute = Row<"GET /operator/routes">;
type VerifiedRelease = Answer<"POST /operator/releases/verify">;

const STEPS = ["signature", "version", "expiry", "difference", "live"] as const;
type Step = (typeof STEPS)[number];

export function PublishDialog({ onClose }: { onClose: () => void }) {
  const [jws, setJws] = useState("");
  const [live, setLive] = useState<OperatedRoute | null>(null);
  const verify = useAsk("POST /operator/releases/verify", {});
  const publish = useChange("POST /operator/releases", {}, setLive);
  const change = (text: string): void => {
    setJws(text.trim());
    verify.reset();
    publish.reset();
  };
  const verified = verify.data;
  return (
    <FormDialog
      size="lg"
      title={words.publishTitle}
      action={verified === undefined ? words.verify : words.publishVersion(verified.release.version)}
      mutation={verified === undefined ? verify : publish}
      disabled={jws === ""}
      done={live !== null}
      onClose={onClose}
      onSubmit={() => (verified === undefined ? verify.mutate({ jws }) : publish.mutate({ jws }))}
    >
      {live === null && (
        <>
          <Text size="sm">{words.publishHelp}</Text>
          <FileInput
            label={words.file}
            placeholder={words.fileHint}
            accept=".jws,text/plain"
            onChange={(file) => void file?.text().then(change)}
          />
          <Textarea
            label={words.jws}
            data-field="jws"
            autosize
            minRows={3}
            maxRows={6}
            value={jws}
            onChange={(event) => change(event.currentTarget.value)}
          />
        </>
      )}
      <Steps at={placeOf({ failure: verify.error ?? publish.error, verified, live })} />
      {live === null && verified !== undefined && <Difference of={verified} />}
      {live !== null && (
        <Group gap="xs" role="status">
          <Text size="sm" className="name">
            {words.published(live.route, live.version)}
          </Text>
          <StateBadge state={live.state} />
        </Group>
      )}
    </FormDialog>
  );
}

interface Place {
  /** The step that failed or comes next; null once all have passed. */
  step: Step | null;
  failed: boolean;
}

interface Progress {
  failure: unknown;
  verified: VerifiedRelease | undefined;
  live: OperatedRoute | null;
}

/** How far a publication has come; there is no current step once all have passed. */
function placeOf({ failure, verified, live }: Progress): Place {
  if (live !== null) return { step: null, failed: false };
  if (failure instanceof ApiError)
    return { step: STEPS.find((step) => step === failure.step) ?? null, failed: failure.step !== null };
  return { step: verified === undefined ? "signature" : "live", failed: false };
}

const ICONS: Record<keyof typeof words.stepStates, { icon: IconName; color: string }> = {
  passed: { icon: "check", color: "green" },
  failed: { icon: "cross", color: "red" },
  now: { icon: "clock", color: "indigo" },
  open: { icon: "dash", color: "gray" },
};

const Steps = ({ at }: { at: Place }) => (
  <List size="sm" spacing={4} center listStyleType="none" aria-label={words.stepsLabel}>
    {STEPS.map((step) => {
      const state = stateOf(step, at);
      const { icon, color } = ICONS[state];
      return (
        <List.Item
          key={step}
          aria-current={step === at.step ? "step" : undefined}
          icon={
            <ThemeIcon size={20} radius="xl" color={color}>
              <Icon name={icon} size={12} />
            </ThemeIcon>
          }
        >
          {words.steps[step]}{" "}
          <Text span c="dimmed">
            {words.stepStates[state]}
          </Text>
        </List.Item>
      );
    })}
  </List>
);

function stateOf(step: Step, at: Place): keyof typeof words.stepStates {
  if (step === at.step) return at.failed ? "failed" : "now";
  return at.step === null || STEPS.indexOf(step) < STEPS.indexOf(at.step) ? "passed" : "open";
}

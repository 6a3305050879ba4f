// "Verify this charge": the evidence, and each step of the check with its figures, computed in the browser.
import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useContext, useState } from "react";
import {
  CHECK_WORDS,
  type Check,
  FOUND_WORDS,
  STEP_WORDS,
  type VerifiedStep,
} from "../../../src/domain/verification.ts";
import { canCheck } from "../../../src/pricing/check-signature.ts";
import { verifyCharge } from "../../../src/pricing/verify-charge.ts";
import { followChain } from "../../../src/pricing/verify-entries.ts";
import { get } from "../../api/client.ts";
import { type Answer, addressOf } from "../../api/routes.ts";
import { Failure, Loaded, Loading } from "../../components/states.tsx";
import { MembershipContext } from "../../membership.tsx";
import { entryKindNames } from "../../components/entry-kinds.ts";
import { formatCount } from "../../format/count.ts";
import { exactMoney } from "../../format/money.ts";
import { ledgerTexts as words } from "./ledger-texts.ts";

const ROUTE = "GET /orgs/{org}/activity/{request}/evidence";

interface VerificationProps {
  org: string;
  request: string;
  chargeUsd: string;
}

export default function Verification({ org, request, chargeUsd }: VerificationProps) {
  const verified = useQuery({
    queryKey: ["verification", org, request, chargeUsd],
    // Never cached: an old result proves nothing.
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const evidence = await get<Answer<typeof ROUTE>>(addressOf(ROUTE, { org, request }), signal);
      return { evidence, steps: await verifyCharge(evidence, { request, charge_usd: chargeUsd }) };
    },
  });
  return (
    <Stack gap="xs" role="group" aria-label={words.verify}>
      <Loaded query={verified} loading={<Loading lines={1} height={200} />}>
        {({ evidence, steps }) => (
          <>
            <Verdict steps={steps} />
            {steps.map((step) => (
              <StepOf key={step.name} step={step} />
            ))}
            <ToHead key={verified.dataUpdatedAt} evidence={evidence} />
            <Group gap="xs">
              <Button
                size="compact-sm"
                variant="default"
                loading={verified.isFetching}
                onClick={() => void verified.refetch()}
              >
                {words.again}
              </Button>
            </Group>
            <Text size="xs" c="dimmed">
              {canCheck() ? words.about : words.insecure}
            </Text>
          </>
        )}
      </Loaded>
    </Stack>
  );
}

/** The rest of the chain, piece by piece, for readers who want all of it. */
function ToHead({ evidence }: { evidence: Answer<typeof ROUTE> }) {
  const { org, request, chain, head } = evidence;
  const left = head.n - (chain.at(-1)?.n ?? head.n);
  const [reached, setReached] = useState<number | null>(null);
  const follow = useMutation({
    mutationFn: () =>
      followChain(
        evidence,
        (from) => get<Answer<typeof ROUTE>>(addressOf(ROUTE, { org, request }, { chain_from: from })),
        setReached,
      ),
  });
  const member = useContext(MembershipContext);
  if (left <= 0 || (member !== null && !member.sees("billing"))) return null;
  if (follow.data !== undefined) return <CheckOf check={follow.data} />;
  return (
    <Group gap="xs">
      <Button size="compact-sm" variant="default" loading={follow.isPending} onClick={() => follow.mutate()}>
        {words.follow(formatCount(left))}
      </Button>
      {reached !== null && (
        <Text size="xs" role="status" className="figures">
          {words.reached(formatCount(reached), formatCount(head.n))}
        </Text>
      )}
      {follow.error !== null && <Failure error={follow.error} retry={() => follow.mutate()} />}
    </Group>
  );
}

function Verdict({ steps }: { steps: readonly VerifiedStep[] }) {
  const [broken, unsure] = [
    steps.some(({ holds }) => holds === false),
    steps.some(({ holds }) => holds === null),
  ];
  return (
    <Alert
      role="status"
      variant="light"
      p="xs"
      color={broken ? "red" : unsure ? "yellow" : "green"}
      title={words.verdicts[broken ? "broken" : unsure ? "open" : "holds"]}
    />
  );
}

const StepOf = ({ step: { name, holds, checks } }: { step: VerifiedStep }) => (
  <details open={holds !== true}>
    <Text component="summary" size="sm" style={{ cursor: "pointer" }}>
      <Sign holds={holds} /> {STEP_WORDS[name].title}
    </Text>
    <Stack gap={4} py={4} pl="md">
      {holds === false && (
        <Text size="sm" c="var(--tone-bad)">
          {STEP_WORDS[name].broken}
        </Text>
      )}
      {checks.map((check, i) => (
        <CheckOf key={`${check.what} ${check.of ?? ""} ${i}`} check={check} />
      ))}
    </Stack>
  </details>
);

/** One figure if both agree, both if they differ; long ones get a line of their own. */
const CheckOf = ({ check }: { check: Check }) => (
  <Group gap="xs" justify="space-between" align="baseline">
    <Text size="xs" className="name">
      <Sign holds={check.holds} /> {CHECK_WORDS[check.what]} <b>{ofWhat(check)}</b>{" "}
      <Text span size="xs" c="dimmed" className="figures">
        {check.by}
      </Text>
    </Text>
    {check.holds === false && <Figure label={words.columns.stated} text={figureText(check, check.stated)} />}
    <Figure
      label={check.holds === false ? words.columns.found : null}
      text={FOUND_WORDS[check.found] ?? figureText(check, check.found)}
    />
  </Group>
);

/** Token classes, prices and kinds of entries have names here; a key's id is shown unchanged. */
function ofWhat({ what, of = "" }: Check): string {
  if (what === "signature") return of;
  const [first = "", ...rest] = of.split(" ");
  const kind = Object.entries(entryKindNames).find(([name]) => name === first && what !== "line")?.[1];
  return [kind ?? first, ...rest].join(" ").replaceAll("_", " ");
}

const AMOUNT = /^-?\d+(?:\.\d+)?$/;
const WHOLE = /^-?\d+$/;

/** Formats dollars as dollars; numbers of releases and entries are not amounts. */
const figureText = ({ what }: Check, text: string): string =>
  AMOUNT.test(text) && (what === "price" || what === "line" || !WHOLE.test(text)) ? exactMoney(text) : text;

const Figure = ({ label, text }: { label: string | null; text: string }) => (
  <Text size="xs" className="name figures" ml="auto">
    {label} <Code style={{ wordBreak: "break-all", whiteSpace: "normal" }}>{text}</Code>
  </Text>
);

const Sign = ({ holds }: { holds: boolean | null }) => (
  <span
    role="img"
    aria-label={holds === null ? words.unsure : holds ? words.holds : words.broken}
    style={{ color: holds === null ? undefined : holds ? "var(--tone-good)" : "var(--tone-bad)" }}
  >
    {holds === null ? "–" : holds ? "✓" : "✗"}
  </span>
);

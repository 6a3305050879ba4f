// What a request cost, line by line; what it holds while it runs; what it asked for if it held nothing.
import { Table, Text } from "@mantine/core";
import type { Answer, Row } from "../../api/routes.ts";
import { Time } from "../../components/figures.tsx";
import { formatCount } from "../../format/count.ts";
import { exactMoney, isZero, subMoney } from "../../format/money.ts";
import { Part, Sum } from "./drawer-part.tsx";
import { activityTexts as words } from "./texts.ts";

type ActivityRow = Row<"GET /orgs/{org}/activity">;
type RequestDetail = Answer<"GET /orgs/{org}/activity/{request}">;
type Request = NonNullable<RequestDetail["request"]>;

export const Arithmetic = ({
  of,
  refunded,
}: {
  of: NonNullable<RequestDetail["arithmetic"]>;
  /** Refunded after it was charged. */
  refunded: string;
}) => (
  <Part title={words.cost}>
    <Table fz="sm" withRowBorders={false} verticalSpacing={2}>
      <Table.Tbody>
        {of.lines.map(({ name, tokens, usd_per_million, amount_usd }) => (
          <Sum
            key={name}
            label={`${words.lines[name]}: ${formatCount(tokens)} × ${exactMoney(usd_per_million)} / 1 M`}
            usd={amount_usd}
          />
        ))}
        <Sum label={words.sum} usd={of.sum_usd} />
        <Sum label={of.minimum_applied ? words.minimumApplied : words.minimumNot} usd={of.minimum_usd} />
        <Sum label={words.charged} usd={of.charge_usd} strong />
        <Sum label={words.held} usd={of.hold_usd} />
        <Sum label={words.returned} usd={of.returned_usd} />
        {!isZero(of.variance_usd) && <Sum label={words.variance} usd={of.variance_usd} />}
        <GivenBack of={of} refunded={refunded} />
      </Table.Tbody>
    </Table>
    <Text size="xs" c="dimmed">
      {words.evidence[of.evidence ?? "none"]} {words.priceOf(of.release_version)}
    </Text>
  </Part>
);

/** The refunded part of a charge, and what is left. */
const GivenBack = ({ of: { charge_usd }, refunded }: { of: { charge_usd: string }; refunded: string }) =>
  !isZero(refunded) && (
    <>
      <Sum label={words.refunded} usd={refunded} />
      <Sum label={words.afterRefund} usd={subMoney(charge_usd, refunded)} strong />
    </>
  );

/** Without any usage there is no price to compute: what was held, and what became of it. */
export const Held = ({ of }: { of: Request }) => (
  <Part title={words.cost}>
    <Table fz="sm" withRowBorders={false} verticalSpacing={2}>
      <Table.Tbody>
        <Sum label={words.held} usd={of.hold_usd} />
        {of.state !== "running" && (
          <>
            <Sum label={words.charged} usd={of.charge_usd} strong />
            <Sum label={words.returned} usd={subMoney(of.hold_usd, of.charge_usd)} />
            {!isZero(of.variance_usd) && <Sum label={words.variance} usd={of.variance_usd} />}
            <GivenBack of={of} refunded={of.refunded_usd} />
          </>
        )}
      </Table.Tbody>
    </Table>
    <Text size="xs" c="dimmed">
      {of.state === "running" ? words.stillHeld : words.nothingUsed}
    </Text>
  </Part>
);

/** For a request that held nothing: how often it was sent, what it asked for, and what it would have held. */
export const AskedFor = ({
  of: { asked, details, model, requests, last_at, state },
}: {
  of: ActivityRow;
}) => (
  <Part title={words.askedFor}>
    {requests > 1 && (
      <Text size="sm">
        {words.alike(formatCount(requests))} {last_at !== null && <Time at={last_at} />}
      </Text>
    )}
    {model === null && <Text size="sm">{requests === 1 ? words.modelNotRead : words.modelsDiffer}</Text>}
    {asked === null ? (
      model !== null && <Text size="sm">{state === "refused" ? words.notPriced : words.notRecorded}</Text>
    ) : (
      <>
        <Text size="sm">
          {words.askedPrompt(formatCount(asked.prompt_tokens), asked.prompt_counted === true)}{" "}
          {words.askedOutput(formatCount(asked.output_tokens))}
        </Text>
        {/* The decision itself shows this if it was about credits. */}
        {details?.["required_usd"] === undefined && (
          <Table fz="sm" withRowBorders={false} verticalSpacing={2}>
            <Table.Tbody>
              <Sum label={words.wouldHold} usd={asked.hold_usd} />
            </Table.Tbody>
          </Table>
        )}
      </>
    )}
  </Part>
);

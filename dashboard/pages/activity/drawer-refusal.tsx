// Why a request was refused, as detailed as the cost of a served one: the reason, what held the credits at that time,
// when it works again, and how to fix it.
import { Code, Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Answer } from "../../api/routes.ts";
import { ExactMoney, Time } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { formatCount } from "../../format/count.ts";
import { formatSpan } from "../../format/time.ts";
import { Part } from "./drawer-part.tsx";
import { activityTexts as words } from "./texts.ts";

type RequestDetail = Answer<"GET /orgs/{org}/activity/{request}">;
type Details = NonNullable<RequestDetail["row"]["details"]>;

/** Figures shown with the request's terms, and with the time when it works again. */
const ASKED = ["prompt_tokens", "prompt_tokens_source", "output_tokens"];
const AGAIN = ["resets_at"];

/** The figures that the refusal named, in words; one without a text is shown by its name. */
const Decided = ({ of, toldBelow }: { of: Details; toldBelow: readonly string[] }) => (
  <Part title={words.decided}>
    <Table fz="sm" withRowBorders={false} verticalSpacing={2}>
      <Table.Tbody>
        {Object.entries(of)
          .filter(([name]) => !toldBelow.includes(name))
          .map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Td pl={0}>{nameOf(name)}</Table.Td>
              <Table.Td pr={0} ta="right" className="figures name">
                {valueOf(name, value)}
              </Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
  </Part>
);

type Words = Readonly<Record<string, string>>;

const nameOf = (name: string): ReactNode => wordOf(words.figures, name) ?? <Code>{name}</Code>;
const wordOf = (known: Words, name: string): string | undefined =>
  Object.hasOwn(known, name) ? known[name] : undefined;

const MONEY = /^\d+\.\d+$/;

function valueOf(name: string, value: Details[string]): ReactNode {
  if (value === null) return "–";
  if (typeof value === "number") return name.endsWith("_ms") ? formatSpan(value) : formatCount(value);
  if (name.endsWith("_usd") && MONEY.test(value)) return <ExactMoney usd={value} />;
  if (name.endsWith("_at") && !Number.isNaN(Date.parse(value))) return <Time at={value} />;
  const values: Readonly<Record<string, Words>> = words.figureWords;
  return wordOf(Object.hasOwn(values, name) ? (values[name] ?? {}) : {}, value) ?? value;
}

export const Refused = ({ of: { row, refusal } }: { of: RequestDetail }) => (
  <>
    {row.details !== null && (
      <Decided
        of={row.details}
        toldBelow={[
          ...(row.asked === null ? [] : ASKED),
          ...(refusal === null || refusal.again_at === null ? [] : AGAIN),
        ]}
      />
    )}
    {refusal !== null && refusal.running_requests > 0 && (
      <Part title={words.ranThen}>
        <Text size="sm">
          {words.heldThen(formatCount(refusal.running_requests))} <ExactMoney usd={refusal.running_usd} />
        </Text>
        <Table fz="sm" withRowBorders={false} verticalSpacing={2}>
          <Table.Tbody>
            {refusal.running.map((one) => (
              <Table.Tr key={one.id}>
                <Table.Td pl={0} className="name">
                  <Link to="." search={(now: object) => ({ ...now, req: one.id })} resetScroll={false}>
                    {one.model}
                  </Link>
                  {" · "}
                  {one.key.name}
                </Table.Td>
                <Table.Td>
                  {one.ended_at === null ? (
                    words.stillRuns
                  ) : (
                    <>
                      {words.endedAt} <Time at={one.ended_at} />
                    </>
                  )}
                </Table.Td>
                <Table.Td pr={0} ta="right">
                  <ExactMoney usd={one.hold_usd} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Part>
    )}
    {refusal !== null && refusal.again_at !== null && (
      <Part title={words.again}>
        <Text size="sm">
          {words.againFrom} <Time at={refusal.again_at} />
        </Text>
      </Part>
    )}
  </>
);

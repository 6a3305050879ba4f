// A request's entries in the ledger by number, and the verification of its charge in the browser. The verifier is
// loaded on demand.
import { Button, Group, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { read } from "../../api/read.ts";
import type { Answer } from "../../api/routes.ts";
import { ExactMoney, Time } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { Loaded, Loading } from "../../components/states.tsx";
import { formatCount } from "../../format/count.ts";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { entryKindNames } from "../../components/entry-kinds.ts";
import { Part } from "./drawer-part.tsx";
import { ledgerTexts as words } from "./ledger-texts.ts";

const Verification = lazy(() => import("./verification.tsx"));

type Request = NonNullable<Answer<"GET /orgs/{org}/activity/{request}">["request"]>;

export function LedgerPart({ org, of }: { org: string; of: Request }) {
  const request = of.id;
  const entries = useQuery(read("GET /orgs/{org}/activity/{request}/entries", { org, request }));
  const [verifying, setVerifying] = useState(false);
  const mayOpen = useMembership().sees("billing");
  return (
    <Part title={words.title}>
      <Loaded query={entries} loading={<Loading lines={1} height={84} />}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm">{words.none}</Text>
          ) : (
            <Table fz="sm" withRowBorders={false} verticalSpacing={2} aria-label={words.title}>
              <Table.Tbody>
                {data.map(({ n, at, kind, amount_usd, requests }) => (
                  <Table.Tr key={n}>
                    <Table.Td pl={0} className="figures">
                      {mayOpen ? (
                        <Link to={path.organization(org, "billing")} search={{ entry: String(n) }} size="sm">
                          {words.entry(formatCount(n))}
                        </Link>
                      ) : (
                        words.entry(formatCount(n))
                      )}
                    </Table.Td>
                    <Table.Td>
                      {entryKindNames[kind]}
                      {requests > 1 && (
                        <Text size="xs" c="dimmed">
                          {words.shared(formatCount(requests))}
                        </Text>
                      )}
                    </Table.Td>
                    <Table.Td>
                      <Time at={at} />
                    </Table.Td>
                    <Table.Td pr={0} ta="right">
                      <ExactMoney usd={amount_usd} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )
        }
      </Loaded>
      {of.state !== "running" && !verifying && (
        <Group>
          <Button size="compact-sm" onClick={() => setVerifying(true)}>
            {words.verify}
          </Button>
        </Group>
      )}
      {verifying && (
        <Suspense fallback={<Loading lines={1} height={200} />}>
          <Verification org={org} request={request} chargeUsd={of.charge_usd} />
        </Suspense>
      )}
    </Part>
  );
}

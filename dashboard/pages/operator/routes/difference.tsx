// What a signed release would change, before it is published: each price before and after, what else differs, and
// which organizations used the model recently.
import { Alert, List, Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Answer } from "../../../api/routes.ts";
import { Time } from "../../../components/figures.tsx";
import { formatCount } from "../../../format/count.ts";
import { operatorRoutesTexts as words } from "./texts.ts";

type VerifiedRelease = Answer<"POST /operator/releases/verify">;
type PriceLine = VerifiedRelease["prices"][number];

export const Difference = ({ of }: { of: VerifiedRelease }) => (
  <Alert color="indigo" variant="light" title={words.verified(of.release.route, of.release.version)}>
    <Text size="sm" mb="xs">
      {of.live === null ? words.newRoute : words.replaces(of.live.version)} {words.until}{" "}
      <Time at={of.release.expires_at} />
    </Text>
    <Prices of={of.prices} />
    {of.changes.length > 0 && <Changes of={of.changes} />}
    <Use of={of.use} />
  </Alert>
);

const Prices = ({ of }: { of: readonly PriceLine[] }) => (
  <Compared label={words.prices} headings={[words.price, words.before, words.after, words.change]}>
    {of.map((line) => {
      const same = line.before === line.after;
      return (
        <Table.Tr key={`${line.price} ${line.above_prompt_tokens}`} c={same ? "dimmed" : undefined}>
          <Table.Td>{nameOf(line)}</Table.Td>
          <Table.Td className="figures name">{line.before ?? "–"}</Table.Td>
          <Table.Td className="figures name" fw={same ? undefined : 600}>
            {line.after ?? "–"}
          </Table.Td>
          <Table.Td className="figures">{same ? words.same : percentOf(line)}</Table.Td>
        </Table.Tr>
      );
    })}
  </Compared>
);

/** `service_tiers.flex` is shown by its tier; a price unknown to this page, by its name in the manifest. */
function nameOf({ price, above_prompt_tokens: above }: PriceLine): string {
  const tier = price.startsWith("service_tiers.") ? price.slice("service_tiers.".length) : null;
  const known: Readonly<Record<string, string>> = words.priceNames;
  const name = tier === null ? (known[price] ?? price) : words.serviceTier(tier);
  return above === null ? name : words.above(name, formatCount(above));
}

const percentOf = ({ percent }: PriceLine): string => (percent === null ? "–" : `${percent} %`);

const Changes = ({ of }: { of: VerifiedRelease["changes"] }) => (
  <Compared label={words.others} headings={[words.field, words.before, words.after]}>
    {of.map(({ field, before, after }) => (
      <Table.Tr key={field}>
        <Table.Td className="name">{field}</Table.Td>
        <Table.Td className="name">{before ?? "–"}</Table.Td>
        <Table.Td className="name">{after ?? "–"}</Table.Td>
      </Table.Tr>
    ))}
  </Compared>
);

interface ComparedProps {
  label: string;
  headings: readonly string[];
  children: ReactNode;
}

const Compared = ({ label, headings, children }: ComparedProps) => (
  <Table fz="sm" mb="sm" aria-label={label}>
    <Table.Thead>
      <Table.Tr>
        {headings.map((heading) => (
          <Table.Th key={heading}>{heading}</Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>{children}</Table.Tbody>
  </Table>
);

const Use = ({ of }: { of: VerifiedRelease["use"] }) => (
  <>
    <Text size="sm" fw={600}>
      {words.used(of.model)}
    </Text>
    <Text size="sm">
      {of.organizations === 0 ? words.nobody : words.users(of.organizations, of.requests)}
    </Text>
    <List size="sm" aria-label={words.used(of.model)}>
      {of.data.map(({ org, name, requests }) => (
        <List.Item key={org} className="name">
          {words.user(name, requests)}
        </List.Item>
      ))}
    </List>
  </>
);

// The building blocks of the drawer's parts: a heading over rows, and sums to the last digit.
import { Stack, Table, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { ExactMoney } from "../../components/figures.tsx";

export const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <Stack gap={6} component="section" aria-label={title}>
    <Title order={3} size="h5">
      {title}
    </Title>
    {children}
  </Stack>
);

export const Sum = ({ label, usd, strong = false }: { label: string; usd: string; strong?: boolean }) => (
  <Table.Tr fw={strong ? 700 : 400}>
    <Table.Td pl={0}>{label}</Table.Td>
    <Table.Td pr={0} ta="right">
      <ExactMoney usd={usd} />
    </Table.Td>
  </Table.Tr>
);

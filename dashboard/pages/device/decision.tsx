// Which terminal asks, what it would get, and the two answers.
import { Button, Group, Stack, Table } from "@mantine/core";
import { useChange } from "../../api/change.ts";
import type { Answer } from "../../api/routes.ts";
import { Caution } from "../../components/caution.tsx";
import { Time } from "../../components/figures.tsx";
import { Failure } from "../../components/states.tsx";
import { deviceTexts as words } from "./texts.ts";

type Device = Answer<"POST /operator/devices/find">;

interface DecisionProps {
  of: Device;
  onDecided: (decided: Device) => void;
  onBack: () => void;
}

export function Decision({ of, onDecided, onBack }: DecisionProps) {
  const approve = useChange("POST /operator/devices/{device}/approve", { device: of.id }, onDecided);
  const decline = useChange("POST /operator/devices/{device}/decline", { device: of.id }, onDecided);
  const error = approve.error ?? decline.error;
  const rows = [
    { name: words.host, value: of.host },
    { name: words.address, value: of.address },
    { name: words.version, value: of.version },
    { name: words.askedAt, value: <Time at={of.asked_at} /> },
    { name: words.gets, value: words.key(of.key_name, of.key_days) },
  ];
  return (
    <Stack gap="md">
      <Table variant="vertical" layout="fixed" aria-label={words.title}>
        <Table.Tbody>
          {rows.map(({ name, value }) => (
            <Table.Tr key={name}>
              <Table.Th w="35%" scope="row">
                {name}
              </Table.Th>
              <Table.Td className="name">{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Caution>{words.onlyYours}</Caution>
      {error !== null && <Failure error={error} />}
      <Group justify="space-between" gap="xs">
        <Button variant="default" onClick={onBack}>
          {words.back}
        </Button>
        <Group gap="xs">
          <Button variant="default" loading={decline.isPending} onClick={() => decline.mutate({})}>
            {words.decline}
          </Button>
          <Button loading={approve.isPending} onClick={() => approve.mutate({})}>
            {words.approve}
          </Button>
        </Group>
      </Group>
    </Stack>
  );
}

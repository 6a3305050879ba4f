// The reader's saved views: the page's current view under a name, to be opened again or deleted.
import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useChange } from "../../api/change.ts";
import { read } from "../../api/read.ts";
import type { Row } from "../../api/routes.ts";
import { Form } from "../../components/form.tsx";
import { Link } from "../../components/link.tsx";
import { Failure, Loaded } from "../../components/states.tsx";
import { parseSearch, stringifySearch } from "../../filters.ts";
import { path } from "../../path-builder.ts";
import { usageTexts } from "./texts.ts";
import { SHAPE, type UsageShape } from "./filters.tsx";

type UsageView = Row<"GET /orgs/{org}/usage/views">;

const words = usageTexts.views;

interface ViewsProps {
  org: string;
  filters: UsageShape;
}

export function Views({ org, filters }: ViewsProps) {
  const [opened, setOpened] = useState(false);
  const close = (): void => setOpened(false);
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        {words.title}
      </Button>
      <Modal opened={opened} onClose={close} title={words.title}>
        <Stack gap="lg">
          <List org={org} onOpen={close} />
          <Keep org={org} filters={filters} onKept={close} />
        </Stack>
      </Modal>
    </>
  );
}

function List({ org, onOpen }: { org: string; onOpen: () => void }) {
  const views = useQuery(read("GET /orgs/{org}/usage/views", { org }));
  return (
    <Loaded query={views}>
      {({ data }) =>
        data.length === 0 ? (
          <Text size="sm" c="dimmed">
            {words.empty}
          </Text>
        ) : (
          <Stack gap="xs">
            {data.map((view) => (
              <Row key={view.id} org={org} of={view} onOpen={onOpen} />
            ))}
          </Stack>
        )
      }
    </Loaded>
  );
}

function Row({ org, of, onOpen }: { org: string; of: UsageView; onOpen: () => void }) {
  const remove = useChange("DELETE /orgs/{org}/usage/views/{view}", { org, view: of.id });
  return (
    <>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Link
          to={path.organization(org, "usage")}
          search={shownBy(of.query)}
          onClick={onOpen}
          className="name"
        >
          {of.name}
        </Link>
        <Button
          size="compact-sm"
          variant="subtle"
          loading={remove.isPending}
          aria-label={words.removeNamed(of.name)}
          onClick={() => remove.mutate({})}
        >
          {words.remove}
        </Button>
      </Group>
      {remove.error !== null && <Failure error={remove.error} />}
    </>
  );
}

function Keep({ org, filters, onKept }: ViewsProps & { onKept: () => void }) {
  const [name, setName] = useState("");
  const keep = useChange("PUT /orgs/{org}/usage/views", { org }, onKept);
  return (
    <Form
      gap="sm"
      onSubmit={() => keep.mutate({ name: name.trim(), query: stringifySearch(filters) })}
      error={keep.error}
      actions={
        <Group justify="flex-end">
          <Button type="submit" loading={keep.isPending} disabled={name.trim() === ""}>
            {words.keep}
          </Button>
        </Group>
      }
    >
      <TextInput
        label={words.name}
        data-field="name"
        description={words.help}
        maxLength={60}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </Form>
  );
}

/** The parameters that the page knows; anything else stays out of the address. */
const shownBy = (query: string): Record<string, string> =>
  Object.fromEntries(Object.entries(parseSearch(query)).filter(([name]) => name in SHAPE));

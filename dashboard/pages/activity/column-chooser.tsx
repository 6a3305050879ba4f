// The choice of columns in Activity: kept in this browser, for each person.
import { Button, Checkbox, Popover, Stack } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { Icon } from "../../components/icon.tsx";
import { COLUMN_IDS, type ColumnId, isUsual } from "./columns.tsx";
import { activityTexts as words } from "./texts.ts";

/** Only the columns that were shown or hidden by hand. */
export type Chosen = Partial<Record<ColumnId, boolean>>;

const NOTHING: Chosen = {};

export function useColumns(person: string): [Chosen, (chosen: Chosen) => void] {
  const [chosen, choose] = useLocalStorage<Chosen>({
    key: `tollgate.activity-columns.${person}`,
    defaultValue: NOTHING,
    deserialize: readChosen,
    getInitialValueInEffect: false,
  });
  return [chosen, choose];
}

/** The stored value may be anything: ignores what is not a column. */
function readChosen(kept: string | undefined): Chosen {
  try {
    const found: unknown = JSON.parse(kept ?? "{}");
    if (typeof found !== "object" || found === null) return NOTHING;
    return Object.fromEntries(
      Object.entries(found).filter(
        ([id, on]) => COLUMN_IDS.some((one) => one === id) && typeof on === "boolean",
      ),
    );
  } catch {
    return NOTHING;
  }
}

export const ColumnChooser = ({ chosen, choose }: { chosen: Chosen; choose: (chosen: Chosen) => void }) => (
  <Popover position="bottom-end" withinPortal trapFocus>
    <Popover.Target>
      <Button variant="default" leftSection={<Icon name="columns" size={16} />}>
        {words.chooseColumns}
      </Button>
    </Popover.Target>
    <Popover.Dropdown aria-label={words.chooseColumns}>
      <Stack gap="xs">
        {COLUMN_IDS.map((id) => (
          <Checkbox
            key={id}
            label={words.columns[id]}
            checked={chosen[id] ?? isUsual(id)}
            onChange={({ currentTarget }) => choose({ ...chosen, [id]: currentTarget.checked })}
          />
        ))}
      </Stack>
    </Popover.Dropdown>
  </Popover>
);

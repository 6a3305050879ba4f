// Single-key shortcuts: off in fields and behind dialogs, and if the person turned them off in this browser.
import { Kbd, Modal, Stack, Switch, Table } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useContext, useEffect, useRef, useSyncExternalStore } from "react";
import { type Membership, MembershipContext } from "./membership.tsx";
import { type OrganizationPage, path } from "./path-builder.ts";
import { pageNames, shortcutTexts as words } from "./components/texts.ts";

const NAME = "tollgate.shortcuts";
/** How long to wait for the second key of a sequence. */
const SEQUENCE_MS = 1_500;
/** The keys after `g`. */
const PLACES: Readonly<Record<string, OrganizationPage>> = {
  k: "keys",
  u: "usage",
  a: "activity",
  b: "billing",
  m: "models",
};
const STEPS: Readonly<Record<string, -1 | 1>> = {
  j: 1,
  k: -1,
  ArrowDown: 1,
  ArrowUp: -1,
  ArrowRight: 1,
  ArrowLeft: -1,
};

interface KeyboardProps {
  /** True if the list of shortcuts is open. */
  listed: boolean;
  list: (open: boolean) => void;
}

/** The keys that work on every page, and their list. */
export function Keyboard({ listed, list }: KeyboardProps) {
  const navigate = useNavigate();
  const membership = useContext(MembershipContext);
  const places = membership === null ? [] : placesOf(membership);
  const sequenceUntil = useRef(0);
  useKeys((event) => {
    if (document.querySelector('[role="dialog"]') !== null) return;
    const { key, timeStamp: pressedAt } = event; // a busy page learns of it later
    const going = pressedAt < sequenceUntil.current;
    sequenceUntil.current = key === "g" ? pressedAt + SEQUENCE_MS : 0;
    const place = going ? places.find(({ letter }) => letter === key) : undefined;
    if (place !== undefined) void navigate({ to: place.to });
    else if (key === "/") focusSearch(event);
    else if (key === "?") list(true);
    else stepRow(event);
  });
  return (
    <Modal opened={listed} onClose={() => list(false)} title={words.title}>
      <List places={places} />
    </Modal>
  );
}

interface Place {
  letter: string;
  page: OrganizationPage;
  to: string;
}

const placesOf = ({ org, sees }: Membership): Place[] =>
  Object.entries(PLACES)
    .filter(([, page]) => sees(page))
    .map(([letter, page]) => ({ letter, page, to: path.organization(org.id, page) }));

function List({ places }: { places: readonly Place[] }) {
  const on = useSyncExternalStore(subscribe, isOn);
  const rows: [keys: string[], does: string][] = [
    [["/"], words.search],
    ...places.map(({ letter, page }): [string[], string] => [["g", letter], words.goTo(pageNames[page])]),
    [["j"], words.next],
    [["k"], words.previous],
    [["?"], words.list],
    [["Ctrl", "K"], words.find],
  ];
  return (
    <Stack gap="md">
      <Table fz="sm" withRowBorders={false} verticalSpacing={4}>
        <Table.Tbody>
          {rows.map(([keys, does]) => (
            <Table.Tr key={does}>
              <Table.Td pl={0} w={80}>
                {keys.map((key, n) => (
                  <span key={key}>
                    {n > 0 && " "}
                    <Kbd>{key}</Kbd>
                  </span>
                ))}
              </Table.Td>
              <Table.Td>{does}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Switch
        label={words.on}
        description={words.onHelp}
        checked={on}
        onChange={(event) => turn(event.currentTarget.checked)}
      />
    </Stack>
  );
}

/** Newer and older row beside an open drawer; the arrows work too, because no row has the focus there. */
export function useStepKeys(open: boolean, step: (by: -1 | 1) => void): void {
  useKeys(({ key }) => {
    const by = key === "ArrowDown" || key === "ArrowUp" ? undefined : STEPS[key];
    if (open && by !== undefined) step(by);
  });
}

function useKeys(act: (event: KeyboardEvent) => void): void {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (isOn() && isOurs(event)) latest.current(event);
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
}

const FIELDS = 'input, textarea, select, [contenteditable], [role="menu"], [role="listbox"]';

const isOurs = ({ target, defaultPrevented, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  !(defaultPrevented || ctrlKey || metaKey || altKey) &&
  !(target instanceof Element && target.closest(FIELDS) !== null);

function focusSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>("main input[data-search]");
  if (field === null) return;
  event.preventDefault();
  field.select();
}

/** The first table with links in its rows; a chart shown as a table has none. */
const firstTable = (): Element | null =>
  document.querySelector("main .table-scroll tbody :is(a, button)")?.closest("table") ?? null;

/** Moves from the focused row, or into the first table; the arrows only from a row, because elsewhere they scroll. */
function stepRow(event: KeyboardEvent): void {
  const by = STEPS[event.key];
  if (by === undefined) return;
  const here = document.activeElement?.closest("tbody tr") ?? null;
  if (here === null && event.key.startsWith("Arrow")) return;
  const table = here?.closest("table") ?? firstTable();
  const rows = [...(table?.querySelectorAll("tbody tr") ?? [])];
  const next = rows[here === null ? 0 : rows.indexOf(here) + by];
  const way = next?.querySelector<HTMLElement>("a, button");
  if (way === null || way === undefined) return;
  event.preventDefault();
  way.focus();
}

const readers = new Set<() => void>();
let on = stored();
const isOn = (): boolean => on;

function turn(wanted: boolean): void {
  on = wanted;
  try {
    localStorage.setItem(NAME, wanted ? "on" : "off");
  } catch {
    // Storage is forbidden: the choice lasts until the page is left.
  }
  for (const read of readers) read();
}

function stored(): boolean {
  try {
    return localStorage.getItem(NAME) !== "off";
  } catch {
    return true;
  }
}

function subscribe(read: () => void): () => void {
  readers.add(read);
  return () => readers.delete(read);
}

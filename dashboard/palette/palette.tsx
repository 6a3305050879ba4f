// The palette: one field, a list under it, keyboard operation. The field keeps the focus and names the option that
// Enter would open (a combobox with a listbox, as ARIA defines it); afterwards the focus returns to where it was.
import { Group, Kbd, Modal, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { read } from "../api/read.ts";
import { Icon } from "../components/icon.tsx";
import { type Entry, entryOf, inActivity, type Looker, matching, pagesOf } from "./entries.ts";
import { withoutSecret } from "../format/without-secret.ts";
import { paletteTexts as words } from "./texts.ts";
import { useNamesakes } from "../components/organization-name.tsx";
import { namesakesOf } from "../format/namesakes.ts";

interface PaletteProps {
  opened: boolean;
  looker: Looker;
  /** `gone` if it led to another page, which has the focus then. */
  onClose: (gone: boolean) => void;
}

const TYPING_MS = 150;
/** The server refuses longer searches. */
const ASKED_MAX = 100;
const GROUPS = ["request", "pages", "organization", "key", "model"] as const;

export const Palette = ({ opened, looker, onClose }: PaletteProps) => (
  <Modal
    opened={opened}
    onClose={() => onClose(false)}
    returnFocus={false}
    title={words.title}
    size="lg"
    yOffset="8vh"
    transitionProps={{ duration: 0 }}
  >
    <Finder looker={looker} onClose={onClose} />
  </Modal>
);

function Finder({ looker, onClose }: Omit<PaletteProps, "opened">) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const navigate = useNavigate();
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const { entries, searching } = useEntries(looker, typed);
  const chosen = entries[Math.min(at, entries.length - 1)];
  const idOf = (entry: Entry): string => `${id}-${entry.id.replace(/[^\w-]/g, "_")}`;
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  });
  const open = (entry: Entry): void => {
    onClose(entry.to !== location.pathname);
    void navigate({ to: entry.to, search: entry.search as never });
  };
  const pressed = (event: KeyboardEvent): void => {
    const next = stepOf(event.key, { at: Math.min(at, entries.length - 1), of: entries.length });
    if (next !== null) setAt(next);
    else if (event.key === "Enter" && chosen !== undefined) open(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <TextInput
        role="combobox"
        aria-label={words.title}
        aria-expanded={entries.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={chosen === undefined ? undefined : idOf(chosen)}
        placeholder={looker.operator && looker.org === null ? words.operatorHint : words.hint}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        data-autofocus
        leftSection={<Icon name="search" size={16} />}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={pressed}
      />
      <div ref={list} id={`${id}-list`} role="listbox" aria-label={words.results} className="palette">
        {GROUPS.filter((group) => entries.some((entry) => entry.group === group)).map((group) => (
          <Options key={group} label={words.groups[group]} labelId={`${id}-${group}`}>
            {entries
              .filter((entry) => entry.group === group)
              .map((entry) => (
                <Option
                  key={entry.id}
                  id={idOf(entry)}
                  entry={entry}
                  selected={entry === chosen}
                  point={() => setAt(entries.indexOf(entry))}
                  open={() => open(entry)}
                />
              ))}
          </Options>
        ))}
      </div>
      <Foot found={searching ? null : entries.length} />
    </>
  );
}

interface OptionsProps {
  label: string;
  labelId: string;
  children: ReactNode;
}

/** The options of one group. */
const Options = ({ label, labelId, children }: OptionsProps) => (
  <div role="group" aria-labelledby={labelId}>
    <Text id={labelId} size="xs" fw={600} c="dimmed" px="xs" pt="sm" pb={4}>
      {label}
    </Text>
    {children}
  </div>
);

/** How many were found, null while that is not known; and what the keys do. */
const Foot = ({ found }: { found: number | null }) => (
  <Group justify="space-between" mt="sm" gap="xs">
    <Text size="xs" c="dimmed" role="status">
      {found === null ? words.searching : found === 0 ? words.nothing : words.count(found)}
    </Text>
    <Text size="xs" c="dimmed" aria-hidden="true" className="wide-only">
      <Kbd size="xs">↑</Kbd> <Kbd size="xs">↓</Kbd> {words.moves} · <Kbd size="xs">↵</Kbd> {words.opens} ·{" "}
      <Kbd size="xs">{words.escape}</Kbd> {words.closes}
    </Text>
  </Group>
);

interface OptionProps {
  id: string;
  entry: Entry;
  selected: boolean;
  point: () => void;
  open: () => void;
}

const Option = ({ id, entry, selected, point, open }: OptionProps) => (
  // The field has the focus and the keys; the pointer is an extra.
  // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
  <div id={id} role="option" aria-selected={selected} tabIndex={-1} onMouseMove={point} onClick={open}>
    <Icon name={entry.icon} size={16} />
    <span className="name">{entry.title}</span>
    {entry.detail !== null && <span className="palette-detail name">{entry.detail}</span>}
  </div>
);

/** The option that the arrows, Home and End select, wrapping around. Null for every other key. */
function stepOf(key: string, { at, of }: { at: number; of: number }): number | null {
  if (of === 0) return null;
  if (key === "ArrowDown") return (at + 1) % of;
  if (key === "ArrowUp") return (at - 1 + of) % of;
  if (key === "Home") return 0;
  return key === "End" ? of - 1 : null;
}

/** In the order of the groups, which the arrows follow. */
function useEntries(looker: Looker, typed: string): { entries: Entry[]; searching: boolean } {
  const asked = withoutSecret(typed).slice(0, ASKED_MAX);
  const [q] = useDebouncedValue(asked, TYPING_MS);
  const org = looker.org?.id ?? "";
  const ofAll = useNamesakes(looker.operator);
  const telling = {
    ...looker,
    namesakes: looker.operator ? ofAll : namesakesOf(looker.organizations),
  };
  const query =
    looker.org === null || looker.org.role === null
      ? read("GET /operator/search", {}, { q })
      : read("GET /orgs/{org}/search", { org }, { q });
  const worth = q.length >= 2;
  const found = useQuery({ ...query, enabled: worth, staleTime: 10_000 });
  // No results for the text before: Enter would open one.
  const rows = worth && q === asked ? (found.data?.data ?? []) : [];
  const pages = matching(pagesOf(telling), asked);
  const known = new Set(pages.map(({ id }) => id));
  const others = rows
    .map((row) => entryOf(row, telling))
    .filter(({ id }) => !known.has(id.replace(/^organization-/, "org-")));
  const searching = worth && (found.isFetching || q !== asked);
  const nowhere = rows.length === 0 && pages.length === 0 && asked.length >= 4 && !searching;
  const last = nowhere && !asked.startsWith("gw_") ? [inActivity(looker, asked)] : [];
  const all = [...pages, ...others, ...last];
  return {
    entries: GROUPS.flatMap((group) => all.filter((entry) => entry.group === group)),
    searching,
  };
}

// Opens the palette from every page: a button in the header, and ⌘K or Ctrl-K wherever the focus is. The palette is
// loaded when it is first opened.
import { Button, Kbd, VisuallyHidden } from "@mantine/core";
import { lazy, Suspense, useEffect, useState } from "react";
import { Icon } from "../components/icon.tsx";
import { useOpener } from "../components/opener.ts";
import { shellTexts } from "../components/texts.ts";
import { loadPart } from "../load-part.ts";
import type { Looker } from "./entries.ts";

const Palette = lazy(async () => ({ default: (await loadPart(() => import("./palette.tsx"))).Palette }));

const ON_APPLE = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function PaletteOpener({ looker }: { looker: Looker }) {
  const [opened, setOpened] = useState(false);
  const [wanted, setWanted] = useState(false);
  const back = useOpener(opened);
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const asked = (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey;
      if (!asked || event.key.toLowerCase() !== "k") return;
      event.preventDefault(); // also behind a dialog: otherwise the browser's own search would open over it
      setOpened((now) => (now ? false : document.querySelector('[role="dialog"]') === null));
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
  useEffect(() => {
    if (opened) setWanted(true);
  }, [opened]);
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        h={30}
        px={10}
        aria-keyshortcuts="Control+K Meta+K"
        leftSection={<Icon name="search" size={14} />}
        rightSection={
          <Kbd size="xs" visibleFrom="sm" aria-hidden="true">
            {ON_APPLE ? "⌘K" : "Ctrl K"}
          </Kbd>
        }
        styles={{ section: { marginInline: 0 } }}
        onClick={() => setOpened(true)}
      >
        <span className="wide-only find">{shellTexts.find}</span>
        <VisuallyHidden hiddenFrom="sm">{shellTexts.find}</VisuallyHidden>
      </Button>
      {wanted && (
        <Suspense fallback={null}>
          <Palette
            opened={opened}
            looker={looker}
            onClose={(gone) => {
              setOpened(false);
              if (!gone) back();
            }}
          />
        </Suspense>
      )}
    </>
  );
}

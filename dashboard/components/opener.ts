// Returns the focus to where a dialog was opened. Mantine's own dialogs do that when `opened` turns false, but ours
// are mostly unmounted while open, the second dialog of a chain was opened from the first, and the row with the
// button may be gone after the action.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** After the dialog's own attempt. */
const AFTER_MS = 50;
/** How long a row may take to disappear together with its button, which has the focus again. */
const GONE_WITHIN_MS = 10_000;

/** For a component that returns the focus itself if it is closed without navigation. */
export function useOpener(open: boolean): () => void {
  const opener = useRef<Element | null>(null);
  useEffect(() => {
    if (open) opener.current = document.activeElement;
  }, [open]);
  return useCallback(() => {
    const { current } = opener;
    setTimeout(() => focusOn(current), AFTER_MS);
  }, []);
}

/** The openers of the dialogs that are open or were a moment ago; a follow-up dialog has the opener of the first. */
const openers: { at: Element }[] = [];

/** While a dialog is mounted, or, for one that stays mounted, while this is true. */
export function useFocusBack(open = true): void {
  // Taken before the dialog appears, because the menu that opened it disappears then.
  const [first] = useState(() => (open ? openerOf(document.activeElement) : null));
  useLayoutEffect(() => {
    if (!open) return;
    const own = openerOf(document.activeElement) ?? (first?.isConnected ? first : null);
    const opener = { at: own ?? openers.at(-1)?.at ?? document.body };
    openers.push(opener);
    return () =>
      void setTimeout(() => {
        const last = openers.at(-1) === opener;
        openers.splice(openers.indexOf(opener), 1);
        if (last && isLost(document.activeElement)) focusOn(opener.at);
      }, AFTER_MS);
  }, [open, first]);
}

/** For a dialog that is rendered inline. */
export function FocusBack(): null {
  useFocusBack();
  return null;
}

/** For a menu item, which disappears with its menu, the menu's button. */
function openerOf(active: Element | null): Element | null {
  const button = active?.closest('[role="menu"]')?.getAttribute("aria-labelledby");
  const opener = button ? document.getElementById(button) : active;
  return opener === document.body ? null : opener;
}

/** The focus is nowhere, or still in a dialog that is closing. */
const isLost = (active: Element | null): boolean =>
  active === null || active === document.body || active.closest('[role="dialog"], [role="menu"]') !== null;

function focusOn(opener: Element | null): void {
  const stays = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
  if (!stays) return focusOnHeading();
  opener.focus({ preventScroll: true });
  const watch = new MutationObserver(() => {
    if (opener.isConnected) return;
    watch.disconnect();
    if (document.activeElement === null || document.activeElement === document.body) focusOnHeading();
  });
  watch.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => watch.disconnect(), GONE_WITHIN_MS);
}

const focusOnHeading = (): void => document.querySelector("h1")?.focus({ preventScroll: true });

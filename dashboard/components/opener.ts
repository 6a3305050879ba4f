// The focus goes back to where a dialog was opened. Mantine's own dialogs do that when `opened` turns false; ours are most often
// taken away as they are, the second of a chain was opened where the first one stood, and a row may go with what was done.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** After the dialog's own attempt. */
const AFTER_MS = 50;
/** How long a row may take to go with its button, which has the focus again. */
const GONE_WITHIN_MS = 10_000;

/** For what gives it back by itself, where it is closed without going elsewhere. */
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

/** Of the dialogs that are open, or were a moment ago; what opened one that follows on another opened both. */
const openers: { at: Element }[] = [];

/** While a dialog is there, or while this is true of one that stays. */
export function useFocusBack(open = true): void {
  // Before it is there: the menu in which it was chosen goes as it comes.
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

/** For a dialog that is written down where it opens. */
export function FocusBack(): null {
  useFocusBack();
  return null;
}

/** What is chosen in a menu goes with it: the menu's button stays. */
function openerOf(active: Element | null): Element | null {
  const button = active?.closest('[role="menu"]')?.getAttribute("aria-labelledby");
  const opener = button ? document.getElementById(button) : active;
  return opener === document.body ? null : opener;
}

/** Nowhere, or still in a dialog that goes away. */
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

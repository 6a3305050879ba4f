// The focus goes back to where a chain of dialogs was opened. A single dialog does that by itself; the second of a chain
// would give it back to the first, which is gone.
import { useCallback, useEffect, useRef } from "react";

export function useOpener(open: boolean): () => void {
  const opener = useRef<Element | null>(null);
  useEffect(() => {
    if (open) opener.current = document.activeElement;
  }, [open]);
  return useCallback(() => {
    const back = opener.current?.isConnected ? opener.current : document.querySelector("h1");
    // After the dialog's own attempt.
    setTimeout(() => back instanceof HTMLElement && back.focus({ preventScroll: true }), 50);
  }, []);
}

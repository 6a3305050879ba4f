// Shows a page at once when all its first answers have arrived: content below something that still loads waits for
// it, so that nothing visible moves. Later loading hides nothing that has been shown.
import { createContext, useContext, useLayoutEffect, useRef, useState } from "react";

/** After this time the page is shown as far as it has arrived. */
const LONGEST_MS = 1_000;

/** Registers something that loads; returns a function to call when it has arrived. */
type Register = () => () => void;

/** Wraps the content of a page. */
export const Arrival = createContext<Register>(() => () => undefined);

/** For placeholders of something that loads. */
export function useLoading(): void {
  const register = useContext(Arrival);
  useLayoutEffect(register, [register]);
}

/**
 * True while the page's first answers are pending, counted from the page's own start; before it has begun, they are.
 */
export function useArrival(begun: boolean): { arriving: boolean; register: Register } {
  const [arriving, setArriving] = useState(true);
  const loading = useRef(0);
  const [register] = useState<Register>(() => () => {
    loading.current += 1;
    return () => {
      loading.current -= 1;
      // Arriving content may load something itself: it registers within the same commit.
      queueMicrotask(() => loading.current === 0 && setArriving(false));
    };
  });
  // Everything that loads has registered by now: effects of children run before their parent's.
  useLayoutEffect(() => {
    if (begun && loading.current === 0) setArriving(false);
  }, [begun]);
  useLayoutEffect(() => {
    const longest = setTimeout(() => setArriving(false), LONGEST_MS);
    return () => clearTimeout(longest);
  }, []);
  return { arriving, register };
}

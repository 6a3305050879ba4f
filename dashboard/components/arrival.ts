// A page arrives once: what is below something that still loads comes with it, so that nothing that is seen moves. Later
// questions hide nothing: what has been shown stays.
import { createContext, useContext, useLayoutEffect, useRef, useState } from "react";

/** A page whose answers take longer than this is shown as far as it is. */
const LONGEST_MS = 1_000;

/** Says that something of the page loads; gives back what says that it came. */
type Register = () => () => void;

/** Around the content of a page. */
export const Arrival = createContext<Register>(() => () => undefined);

/** For what stands in the place of something that loads. */
export function useLoading(): void {
  const register = useContext(Arrival);
  useLayoutEffect(register, [register]);
}

/** Whether the page's first answers are still awaited, counted from its own first moment on; before it has begun they are. */
export function useArrival(begun: boolean): { arriving: boolean; register: Register } {
  const [arriving, setArriving] = useState(true);
  const loading = useRef(0);
  const [register] = useState<Register>(() => () => {
    loading.current += 1;
    return () => {
      loading.current -= 1;
      // What an answer brings may load something itself: it registers within the same commit.
      queueMicrotask(() => loading.current === 0 && setArriving(false));
    };
  });
  // Whatever loads has registered by now: effects of children are before their parent's.
  useLayoutEffect(() => {
    if (begun && loading.current === 0) setArriving(false);
  }, [begun]);
  useLayoutEffect(() => {
    const longest = setTimeout(() => setArriving(false), LONGEST_MS);
    return () => clearTimeout(longest);
  }, []);
  return { arriving, register };
}

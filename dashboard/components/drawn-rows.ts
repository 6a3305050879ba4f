// Renders a table in two steps: first the rows that fill a screen, then the rest once these are painted. A hundred
// rows are about a thousand cells, and the rest of the page would have to wait for them.
import { startTransition, useEffect, useState } from "react";

/** As many as a page with a chart above its table shows. */
const FIRST_ROWS = 12;

export function useDrawnRows<Row>(rows: readonly Row[]): { drawn: readonly Row[]; drawing: boolean } {
  const [begun, begin] = useState(rows.length <= FIRST_ROWS);
  useEffect(() => {
    if (begun) return undefined;
    // After the frame that shows the first ones: an effect alone may run before it.
    const next = requestAnimationFrame(() => startTransition(() => begin(true)));
    return () => cancelAnimationFrame(next);
  }, [begun]);
  return { drawn: begun ? rows : rows.slice(0, FIRST_ROWS), drawing: !begun };
}

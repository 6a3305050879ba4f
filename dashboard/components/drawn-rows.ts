// A table is drawn from its beginning: the rows that fill a screen first, those below it when these are painted. A hundred rows
// are some thousand cells, and whatever else the page shows would wait for them.
import { startTransition, useEffect, useState } from "react";

/** As many as a page with a chart above its table shows. */
const FIRST_ROWS = 12;

export function useDrawnRows<Row>(rows: readonly Row[]): { drawn: readonly Row[]; drawing: boolean } {
  const [begun, begin] = useState(rows.length <= FIRST_ROWS);
  useEffect(() => {
    if (begun) return undefined;
    // After the frame that shows the first ones: an effect alone may come before it.
    const next = requestAnimationFrame(() => startTransition(() => begin(true)));
    return () => cancelAnimationFrame(next);
  }, [begun]);
  return { drawn: begun ? rows : rows.slice(0, FIRST_ROWS), drawing: !begun };
}

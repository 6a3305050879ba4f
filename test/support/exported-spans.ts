import { scrape } from "./scrape.ts";
import { loopTurns, waitFor } from "./wait.ts";

/** Waits until this gateway has exported, or given up, the spans of all requests that were answered before. */
export async function spansExported(url: string): Promise<void> {
  await loopTurns(); // a request's spans are queued a moment after its answer
  await waitFor(async () => {
    const { samples } = await scrape(url);
    return samples.every(({ name, value }) => name !== "tollgate_spans_waiting" || value === 0);
  }, "the spans to be exported");
}

// A file that a browser downloads, streamed as it is read.
import type { CsvFile } from "../../api/csv.ts";
import type { Lines } from "../../lib/lines.ts";
import type { Asker } from "../../store/reading-turns.ts";

/** A person who was removed, demoted or signed out receives nothing more after this, as with a live tail. */
const STANDS_MS = 3_000;

/** The reader of a file. */
export interface CsvReader {
  asker: Asker;
  /** Whether they still may. If not, the file breaks off, so that it does not look complete. */
  stands: () => Promise<boolean>;
  /**
   * Across all files one page is read at a time. Parties take turns, and within each its readers, however many files each
   * has open.
   */
  pages: Pick<Lines, "run">;
}

export function csvResponse({ name, lines }: CsvFile, { asker, stands, pages }: CsvReader): Response {
  const encoder = new TextEncoder();
  let stoodAtMs = performance.now();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (performance.now() - stoodAtMs >= STANDS_MS) {
        if (!(await stands())) {
          await lines.return(undefined);
          return controller.error(); // without a reason, so that Bun does not print it as a failure
        }
        stoodAtMs = performance.now();
      }
      try {
        const { value, done } = await pages.run({ place: "files", ...asker }, () => lines.next());
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (error) {
        if (asker.signal?.aborted === true) return controller.error(); // nobody reads it any more
        throw error;
      }
    },
    cancel: async () => {
      await lines.return(undefined);
    },
  });
  return new Response(body, { headers: fileHeaders(name, { type: "text/csv; charset=utf-8", end: "csv" }) });
}

/** Headers of a download with this file name. */
export const fileHeaders = (
  name: string,
  { type, end }: { type: string; end: string },
): Record<string, string> => ({
  "content-type": type,
  "content-disposition": `attachment; filename="${name.replace(/[^A-Za-z0-9_.-]/g, "-").slice(0, 120)}.${end}"`,
  "cache-control": "no-store",
});

// A file that a browser downloads, as it is read.
import type { CsvFile } from "../../api/csv.ts";

/** Whoever was removed, demoted or signed out is given nothing more after this, as by a live tail. */
const STANDS_MS = 3_000;

/** `stands`: whether who reads it still may. A file that ends for that breaks off: it does not look whole. */
export function csvResponse({ name, lines }: CsvFile, stands: () => Promise<boolean>): Response {
  const encoder = new TextEncoder();
  let stoodAtMs = performance.now();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (performance.now() - stoodAtMs >= STANDS_MS) {
        if (!(await stands())) {
          await lines.return(undefined);
          return controller.error(); // without a reason: it is no failure for Bun to print
        }
        stoodAtMs = performance.now();
      }
      const { value, done } = await lines.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: async () => {
      await lines.return(undefined);
    },
  });
  return new Response(body, { headers: fileHeaders(name, { type: "text/csv; charset=utf-8", end: "csv" }) });
}

/** Of what is kept as a file of this name. */
export const fileHeaders = (
  name: string,
  { type, end }: { type: string; end: string },
): Record<string, string> => ({
  "content-type": type,
  "content-disposition": `attachment; filename="${name.replace(/[^A-Za-z0-9_.-]/g, "-").slice(0, 120)}.${end}"`,
  "cache-control": "no-store",
});

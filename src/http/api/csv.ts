// A file that a browser downloads, as it is read.
import type { CsvFile } from "../../api/csv.ts";

export function csvResponse({ name, lines }: CsvFile): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
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

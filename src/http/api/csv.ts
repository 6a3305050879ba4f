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
  const file = name.replace(/[^A-Za-z0-9_.-]/g, "-").slice(0, 120);
  return new Response(body, {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${file}.csv"`,
      "cache-control": "no-store",
    },
  });
}

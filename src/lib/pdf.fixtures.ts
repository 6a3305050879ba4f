// Small PDFs for the tests of all rooms.
import { deflateSync } from "node:zlib";

/** A document of empty pages; `packed`: its objects are in a compressed stream, as in most current files. */
export function samplePdf({ pages = 1, packed = false } = {}): Buffer {
  const numbers = Array.from({ length: pages }, (_, page) => page + 3);
  const tree = `<< /Type /Pages /Count ${pages} /Kids [${numbers.map((n) => `${n} 0 R`).join(" ")}] >>`;
  const leaf = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>";
  const objects = ["<< /Type /Catalog /Pages 2 0 R >>", tree, ...numbers.map(() => leaf)];
  const written = packed
    ? objectStream(deflateSync(Buffer.from(objects.join("\n"))))
    : Buffer.from(objects.map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`).join(""));
  return Buffer.concat([Buffer.from("%PDF-1.7\n"), written, Buffer.from("%%EOF\n")]);
}

/** An object stream with these bytes, whatever they are. */
export const objectStream = (data: Uint8Array, how = "/Filter /FlateDecode"): Buffer =>
  Buffer.concat([
    Buffer.from(`9 0 obj\n<< /First 40 /Length ${data.length} ${how} /N 9 /Type /ObjStm >>\nstream\r\n`),
    data,
    Buffer.from("\nendstream\nendobj\n"),
  ]);

/** The message part that contains it. */
export const filePart = (pdf: Buffer = samplePdf(), filename = "report.pdf") => ({
  type: "file" as const,
  file: { filename, file_data: `data:application/pdf;base64,${pdf.toString("base64")}` },
});

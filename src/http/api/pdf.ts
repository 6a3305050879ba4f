// A document as a download, under its name.
import type { PdfFile } from "../../api/endpoint.ts";
import { fileHeaders } from "./csv.ts";

export const pdfResponse = ({ name, bytes }: PdfFile): Response =>
  new Response(bytes, { headers: fileHeaders(name, { type: "application/pdf", end: "pdf" }) });

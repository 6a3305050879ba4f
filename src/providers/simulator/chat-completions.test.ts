// This face is as strict as the vendor where a gateway could fail unnoticed: files.
import { expect, test } from "bun:test";
import { filePart, samplePdf } from "../../lib/pdf.fixtures.ts";
import { chatCompletions } from "./chat-completions.ts";
import { FaceRefusal } from "./face.ts";

const hear = (...content: object[]) =>
  chatCompletions.hear({ model: "sim-1", messages: [{ role: "user", content }] }, "/v1/chat/completions", {});

test("files are read by the page; their data is no text of the prompt", () => {
  const packed = filePart(samplePdf({ pages: 5, packed: true }));
  const { asked } = hear({ type: "text", text: "What?" }, filePart(), packed);
  expect(asked.documentTokens).toBe(6 * 258);
  expect(JSON.stringify(asked.messages)).toContain("report.pdf");
  expect(JSON.stringify(asked.messages)).not.toContain("base64");
  expect(hear({ type: "text", text: "What?" }).asked.documentTokens).toBe(0);
});

test("a file without a name, without data, with a member more, or of another kind is refused", () => {
  const { file } = filePart();
  for (const wrong of [
    { file_data: file.file_data },
    { filename: "a.pdf" },
    { ...file, pages: 1 },
    { ...file, file_data: file.file_data.replace("application/pdf", "image/png") },
    { ...file, file_data: samplePdf().toString("base64") },
    { filename: "a.pdf", file_id: "file-1" },
    undefined,
  ])
    expect(() => hear({ type: "file", file: wrong })).toThrow(FaceRefusal);
  expect(() => hear(filePart(Buffer.from("%PDF-1.7, and no page")))).toThrow("no pages");
  const messages = [{ role: "system", content: [filePart()] }];
  expect(() => chatCompletions.hear({ model: "sim-1", messages }, "/v1/chat/completions", {})).toThrow(
    FaceRefusal,
  );
});

// What Converse requires of documents: a name in certain characters, no name twice, at most five, and a text beside
// them.
import { z } from "zod";

export const document = z.strictObject({
  document: z.strictObject({
    format: z.enum(["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"]),
    name: z
      .string()
      .min(1)
      .max(200)
      .regex(/^(?:[A-Za-z0-9()[\]-]|\s(?!\s))+$/),
    source: z.strictObject({ bytes: z.base64().min(1) }),
  }),
});

type Block = z.output<typeof document> | object;
interface Turn {
  role: string;
  content: readonly Block[];
}

const DOCUMENTS_MAX = 5;
const BYTES_MAX = 4_500_000;

const inside = (content: readonly Block[]) =>
  content.flatMap((block) => ("document" in block ? [block.document] : []));

/** Returns all documents, in base64. */
export const converseDocuments = (messages: readonly Turn[]): string[] =>
  messages.flatMap(({ content }) => inside(content).map(({ source }) => source.bytes));

/** Returns the vendor's complaint about them; null if it accepts them. */
export function documentFault(messages: readonly Turn[]): string | null {
  const all = messages.flatMap(({ content }) => inside(content));
  if (all.length > DOCUMENTS_MAX) return `You cannot include more than ${DOCUMENTS_MAX} documents.`;
  if (new Set(all.map(({ name }) => name)).size < all.length) return "Document names must be unique.";
  if (all.some(({ source }) => Buffer.from(source.bytes, "base64").length > BYTES_MAX))
    return "The document file size exceeds 4.5 MB.";
  const mute = messages.some(
    ({ role, content }) =>
      inside(content).length > 0 && (role !== "user" || !content.some((block) => "text" in block)),
  );
  return mute ? "A message with documents must be the user's and have a text block." : null;
}

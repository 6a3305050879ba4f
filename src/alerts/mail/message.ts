// Prints an alert or an invitation as a mail (RFC 5322) in plain text. Text that people typed appears only in
// the subject and the body, and both are encoded, so that no text can end a header or begin one.
import type { Sent } from "../sent.ts";

export interface Mail {
  /** For an alert `msg_…`: the same at every try, so that a mailbox can recognize a duplicate. */
  id: string;
  /** A mail address (`domain/mail-address.ts`). */
  to: string;
  subject: string;
  text: string;
  atMs: number;
}

/** Never throws. */
export type SendMail = (mail: Mail) => Promise<Sent>;

export interface Sender {
  /** A mail address. */
  address: string;
  name: string;
}

const SUBJECT_CHARACTERS = 150;
/**
 * A line with an encoded word has at most 76 characters (RFC 2047 §2): these bytes make 64, after the
 * header's name.
 */
const WORD_BYTES = 39;
const LINE_CHARACTERS = 76;

/** The whole message with its headers, as ASCII lines ended by CRLF; the sender does SMTP's dot stuffing. */
export function printMail(mail: Mail, from: Sender): string {
  const domain = from.address.slice(from.address.lastIndexOf("@") + 1);
  const headers = [
    `From: ${encodedWords(from.name)}\r\n <${from.address}>`,
    `To: <${mail.to}>`,
    `Subject: ${encodedWords(shortened(mail.subject))}`,
    `Date: ${new Date(mail.atMs).toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: <${mail.id}@${domain}>`,
    "Auto-Submitted: auto-generated", // suppresses automatic replies (RFC 3834)
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: base64",
  ];
  const lines = Buffer.from(mail.text.replace(/\r?\n/g, "\r\n")).toString("base64");
  return [...headers, "", ...chunks(lines, LINE_CHARACTERS), ""].join("\r\n");
}

function shortened(text: string): string {
  const characters = Array.from(text.toWellFormed().replace(/\s+/g, " "));
  if (characters.length <= SUBJECT_CHARACTERS) return characters.join("");
  return `${characters.slice(0, SUBJECT_CHARACTERS - 1).join("")}…`;
}

/** Always encoded, even if not necessary: a decision that is never made cannot be wrong. */
function encodedWords(text: string): string {
  const words: string[] = [];
  let word = "";
  for (const character of text.toWellFormed()) {
    if (Buffer.byteLength(word + character) > WORD_BYTES) {
      words.push(word);
      word = "";
    }
    word += character;
  }
  words.push(word);
  return words.map((part) => `=?utf-8?B?${Buffer.from(part).toString("base64")}?=`).join("\r\n ");
}

function chunks(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  );
}

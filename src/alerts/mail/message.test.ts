import { expect, test } from "bun:test";
import { printMail } from "./message.ts";

const FROM = { address: "alerts@gate.example", name: "Tollgate" };
const AT_MS = Date.UTC(2031, 2, 10, 10);
const mail = (over: { subject?: string; text?: string }) =>
  printMail({ id: "msg_1", to: "ada@acme.example", subject: "s", text: "t", atMs: AT_MS, ...over }, FROM);

/** The header fields, unfolded as a mail reader does. */
function headersOf(printed: string): [string, string][] {
  const [head = ""] = printed.split("\r\n\r\n");
  return head
    .replace(/\r\n[ \t]/g, " ")
    .split("\r\n")
    .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]);
}
const decoded = (value: string): string =>
  value
    .replace(/\?= =\?/g, "?==?")
    .replace(/=\?utf-8\?B\?([^?]*)\?=/g, (_, word: string) => Buffer.from(word, "base64").toString());

test("a mail has each header once, its text and a message id", () => {
  const printed = mail({ subject: "The balance is $4.00.", text: "Line one\nLine two" });
  const headers = headersOf(printed);
  expect(headers.map(([name]) => name)).toEqual([
    "From",
    "To",
    "Subject",
    "Date",
    "Message-ID",
    "Auto-Submitted",
    "MIME-Version",
    "Content-Type",
    "Content-Transfer-Encoding",
  ]);
  const values = new Map(headers);
  expect(decoded(values.get("Subject") ?? "")).toBe("The balance is $4.00.");
  expect(values.get("Date")).toBe("Mon, 10 Mar 2031 10:00:00 +0000");
  expect(values.get("Message-ID")).toBe("<msg_1@gate.example>");
  const body = printed.slice(printed.indexOf("\r\n\r\n") + 4);
  expect(Buffer.from(body, "base64").toString()).toBe("Line one\r\nLine two");
});

test.each([
  "x\r\nBcc: all@acme.example",
  "x\nBcc: all@acme.example\n\nbody",
  "x\r\n.\r\nMAIL FROM:<a@b>",
  "=?utf-8?Q?=0D=0ABcc:_all?=",
  "naïve ключ 鍵 \u2028 \u0000 \ud800",
  "🗝".repeat(400),
])("no text of people makes a header, ends the mail or is torn: %j", (text) => {
  const printed = mail({ subject: text, text });
  expect(headersOf(printed)).toHaveLength(9);
  expect(printed).not.toMatch(/\r\n\.\r\n/);
  expect(printed).toMatch(/^[\x20-\x7e\r\n]*$/);
  expect(Math.max(...printed.split("\r\n").map((line) => line.length))).toBeLessThanOrEqual(76);
  const subject = decoded(new Map(headersOf(printed)).get("Subject") ?? "");
  expect(Array.from(subject).length).toBeLessThanOrEqual(150);
  expect(text.toWellFormed().replace(/\s+/g, " ")).toStartWith(subject.replace(/…$/, ""));
});

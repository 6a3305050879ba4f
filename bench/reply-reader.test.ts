import { expect, test } from "bun:test";
import { ReplyReader } from "./reply-reader.ts";
import type { Reply } from "./reply-reader.ts";

const STREAM =
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" +
  "9\r\ndata: a\n\n\r\n8\r\ndata: b\n\r\n1\r\n\n\r\n12\r\ndata: c\n\ndata: d\n\n\r\n0\r\n\r\n";
const ANSWER = "HTTP/1.1 402 Payment Required\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";

function readInPieces(text: string, size: number): Reply | null {
  const reader = new ReplyReader(true);
  const bytes = new TextEncoder().encode(text);
  let reply: Reply | null = null;
  for (let at = 0; at < bytes.byteLength; at += size)
    reply = reader.push(bytes.slice(at, at + size)) ?? reply;
  return reply;
}

test("a stream gives the same events however the socket cuts it", () => {
  for (let size = 1; size <= STREAM.length; size += 1) {
    const reply = readInPieces(STREAM, size);
    expect(reply?.events).toBe(4);
    expect(reply?.body).toBe("data: a\n\ndata: b\n\ndata: c\n\ndata: d\n\n");
  }
});

test("an answer with content-length gives its status, its body, and that the connection closes", () => {
  for (let size = 1; size <= ANSWER.length; size += 1)
    expect(readInPieces(ANSWER, size)).toMatchObject({ status: 402, body: "hello", closes: true });
});

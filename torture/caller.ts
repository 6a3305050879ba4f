// A client of the run: sends a planned request, disconnects when the plan says so, and records what came back, byte
// for byte. It never retries: repeats are part of the plan.
import type { Exchange } from "./history.ts";
import { modelNamed } from "./models.ts";
import type { Leave, PlannedRequest } from "./plan.ts";
import { Random } from "./random.ts";
import { isEnded, SURFACE } from "./surfaces.ts";

const WORDS = "count the silver bridges over the quiet river before the morning light returns".split(" ");
/** Nothing in a run takes this long; a client that waits longer has found a bug. */
const PATIENCE_MS = 45_000;

/** The body of a planned request; the same request always gives the same bytes. */
export function bodyOf(request: PlannedRequest): Record<string, unknown> {
  const words = Array.from({ length: request.words }, (_, n) => WORDS[(request.id + n) % WORDS.length]);
  const text = `${request.id}: ${words.join(" ")}${ideographs(request)}`;
  const body = SURFACE[request.surface].body(request, text);
  if (modelNamed(request.model).files !== true) return body;
  return { ...body, messages: [{ role: "user", content: [{ type: "text", text }, pdfOf(request)] }] };
}

/** A PDF of one to three pages. */
function pdfOf({ id }: PlannedRequest): object {
  const pages = Array.from({ length: 1 + (id % 3) }, (_, n) => `${n + 3} 0 obj << /Type /Page >> endobj\n`);
  const file_data = `data:application/pdf;base64,${btoa(`%PDF-1.4\n${pages.join("")}%%EOF`)}`;
  return { type: "file", file: { filename: `${id}.pdf`, file_data } };
}

const IDEOGRAPHS = { from: 0x4e00, count: 0x5000 };

/** Ideographs in an order that no tokenizer has merges for: each is counted on its own, and no cached text repeats. */
function ideographs({ id, ideographs: count }: PlannedRequest): string {
  if (count === 0) return "";
  const random = new Random(id);
  const codes = Uint16Array.from(
    { length: count },
    () => IDEOGRAPHS.from + random.between(0, IDEOGRAPHS.count - 1),
  );
  return new TextDecoder("utf-16le").decode(codes);
}

/** Keep-alive comments are not part of the answer: a replay has them in other places. */
const COMMENT = /^: .*\n\n/gm;

export interface Sending {
  gateway: { url: string; number: number };
  secret: string;
  kind: Exchange["kind"];
  request: PlannedRequest;
  leave: Leave;
  after: number | null;
  healed: boolean;
}

export async function send(sending: Sending): Promise<Exchange> {
  const { request, kind, after, healed, leave, gateway } = sending;
  const exchange: Exchange = {
    request,
    kind,
    gateway: gateway.number,
    after,
    healed,
    sentAtMs: Date.now(),
    contentAtMs: null,
    endedAtMs: 0,
    ending: "cut",
    status: null,
    headers: {},
    body: "",
  };
  const door = new AbortController();
  const goes = (): void => {
    exchange.ending = "left";
    door.abort();
  };
  const leaves = leave !== null && "afterMs" in leave ? setTimeout(goes, leave.afterMs) : undefined;
  const { path, other } = SURFACE[request.surface];
  const patience = setTimeout(() => door.abort(), PATIENCE_MS);
  try {
    const response = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: headersOf(sending),
      body: JSON.stringify(kind === "misuse" ? { ...bodyOf(request), ...other } : bodyOf(request)),
      signal: door.signal,
      keepalive: false, // a pooled connection that died with one gateway would fail a request to the next
    });
    exchange.status = response.status;
    exchange.headers = Object.fromEntries(response.headers);
    await read(response, exchange, leave !== null && "afterBytes" in leave ? leave.afterBytes : null, goes);
  } catch {
    // Left or cut; `ending` says which.
  } finally {
    clearTimeout(leaves);
    clearTimeout(patience);
    exchange.endedAtMs = Date.now();
    exchange.body = exchange.body.replaceAll(COMMENT, "");
  }
  return exchange;
}

function headersOf({ secret, request, after }: Sending): Record<string, string> {
  return {
    authorization: `Bearer ${secret}`,
    "content-type": "application/json",
    ...(request.idempotencyKey !== null && { "idempotency-key": request.idempotencyKey }),
    ...(after !== null && { "last-event-id": String(after) }),
  };
}

async function read(
  response: Response,
  exchange: Exchange,
  leaveAt: number | null,
  goes: () => void,
): Promise<void> {
  const { content } = SURFACE[exchange.request.surface];
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const part of response.body ?? []) {
    exchange.body += decoder.decode(part, { stream: true });
    if (exchange.contentAtMs === null && content.test(exchange.body)) exchange.contentAtMs = Date.now();
    bytes += part.byteLength;
    if (leaveAt !== null && bytes >= leaveAt) {
      goes();
      return;
    }
  }
  if (exchange.ending !== "left" && isWhole(exchange)) exchange.ending = "whole";
}

const isWhole = ({ headers, body, request }: Exchange): boolean =>
  (headers["content-type"] ?? "").startsWith("text/event-stream") ? isEnded(body, request) : parses(body);

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

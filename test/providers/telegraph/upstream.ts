// The other end of the made-up wire, with a bill of its own: what it heard and spoke, whatever the gateway thinks.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { sealOf } from "./kind.ts";

export const SEAL = "seal-of-the-house-42";
export const PASS = "pass-7f3a91c2";
export const HEARD = 40;
export const SPARED = 10;
/** Sixty tokens of the vocabulary: each word with its blank is one. */
export const WORDS: readonly string[] = Array.from({ length: 60 }, () => " river");

/** What the next calls meet. */
type Mood = "well" | "shut" | "too eager" | "too eager in the stream" | "cut" | "gate shut" | "odd frame";

interface Telegram {
  path: string;
  body: Record<string, unknown>;
  requestId: string;
  /** What it would invoice. */
  heard: number;
  spoken: number;
}

export interface TelegraphOffice extends AsyncDisposable {
  url: string;
  mood: Mood;
  readonly bill: readonly Telegram[];
  /** How often a pass was fetched. */
  readonly passes: number;
}

export async function openOffice(): Promise<TelegraphOffice> {
  const office = { url: "", mood: "well" as Mood, bill: [] as Telegram[], passes: 0 };
  const server = createServer((request, response) => void serve(office, request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the office has no port");
  return Object.assign(office, {
    url: `http://127.0.0.1:${address.port}/wire`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

type Office = Pick<TelegraphOffice, "mood"> & { bill: Telegram[]; passes: number };

async function serve(office: Office, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  if (request.url === "/wire/gate") return gate(office, response);
  if (request.headers["x-pass"] !== PASS || request.headers["x-seal"] !== sealOf(SEAL, body))
    return say(response, 499, { trouble: { sort: "forged" } });
  const telegram: Telegram = {
    path: request.url ?? "",
    body: JSON.parse(body) as Record<string, unknown>,
    requestId: String(request.headers["x-request-id"]),
    heard: 0,
    spoken: 0,
  };
  office.bill.push(telegram);
  if (office.mood === "shut")
    return say(response, 470, { trouble: { sort: "shut", words: "come tomorrow" } });
  if (office.mood === "too eager")
    return say(response, 420, {
      trouble: { sort: "too_eager", words: `pass ${PASS} is too eager`, wait_s: 7 },
    });
  if (telegram.path.endsWith("/whole")) return whole(telegram, response);
  await live(office, telegram, response);
}

function gate(office: Office, response: ServerResponse): void {
  if (office.mood === "gate shut") return say(response, 500, {});
  office.passes += 1;
  say(response, 200, { word: PASS, good_ms: 3_600_000 });
}

function whole(telegram: Telegram, response: ServerResponse): void {
  telegram.heard = HEARD;
  telegram.spoken = WORDS.length;
  const count = { heard: HEARD, spared: SPARED, spoken: WORDS.length };
  say(response, 200, { number: "T-1", words: WORDS.join(""), count, stopped: "out of words" });
}

async function live({ mood }: Office, telegram: Telegram, response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "application/frames" });
  const frame = async (kind: string, text: string): Promise<void> => {
    const bytes = Buffer.alloc(5 + Buffer.byteLength(text));
    bytes.writeUInt32BE(Buffer.byteLength(text), 0);
    bytes.write(kind + text, 4);
    // Split at any place: a frame is not a read.
    for (const piece of [bytes.subarray(0, 3), bytes.subarray(3)]) {
      await new Promise((resolve) => response.write(piece, resolve));
    }
  };
  await frame("N", "T-2");
  await frame("U", JSON.stringify({ heard: HEARD, spared: SPARED, spoken: 0 }));
  if (mood === "too eager in the stream") {
    await frame("E", JSON.stringify({ trouble: { sort: "too_eager" } }));
    response.end();
    return;
  }
  telegram.heard = HEARD;
  for (const word of WORDS.slice(0, mood === "well" ? WORDS.length : 20)) {
    await frame("W", word);
    telegram.spoken += 1;
  }
  if (mood === "odd frame") {
    response.end(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x57]));
    return;
  }
  if (mood === "cut") {
    await Bun.sleep(50); // what was sent before arrives
    response.socket?.destroy();
    return;
  }
  await frame("S", "out of words");
  await frame("U", JSON.stringify({ spared: SPARED, spoken: WORDS.length }));
  await frame("Z", "");
  response.end();
}

function say(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json", "x-wire-number": "T-0" });
  response.end(JSON.stringify(body));
}

// A provider of a made-up shape, to test the provider interface: a path per model, a pass that is fetched and
// renewed, a seal over the exact bytes, length-prefixed binary frames, usage reported first and last, errors in its
// own words.
import { createHmac } from "node:crypto";
import { z } from "zod";
import type {
  AnswerReader,
  Codec,
  EventEnd,
  Framing,
  Outgoing,
  UpstreamError,
} from "../../../src/providers/codec.ts";
import { isJsonObject } from "../../../src/domain/read-value.ts";
import { NO_CLASSES } from "../../../src/domain/token-classes.ts";
import { Failure, type FailureCause } from "../../../src/providers/failure.ts";
import { httpProvider } from "../../../src/providers/http/http-provider.ts";
import { readJson, readObject } from "../../../src/providers/http/json.ts";
import { providerKind } from "../../../src/providers/kind.ts";
import type { CallDraft, FinishReason, OutgoingBody, Part } from "../../../src/providers/provider.ts";

export const telegraph = providerKind({
  name: "telegraph",
  description: "Made up.",
  settings: {
    office: z.string().min(1).describe("Who we are there."),
    seal: z.string().min(1).describe("Signs what we send."),
  },
  probePath: "/gate",
  credential: { setting: "seal", needed: true, given: () => true },
  shown: ({ office }) => ({ office }),
  create: (upstream, { office, seal }) =>
    httpProvider(upstream, telegraphCodec(new Gate(upstream.baseUrl, office), seal)),
});

export const sealOf = (seal: string, body: string | Uint8Array): string =>
  createHmac("sha256", seal).update(body).digest("hex");

/** Fetches a pass and keeps it as long as it is valid. */
class Gate {
  private pass: { word: string; untilMs: number } | null = null;

  constructor(
    private readonly baseUrl: string,
    private readonly office: string,
  ) {}

  async open(signal: AbortSignal): Promise<string> {
    if (this.pass !== null && this.pass.untilMs > Date.now()) return this.pass.word;
    const reply = await fetch(`${this.baseUrl}/gate`, { method: "POST", body: this.office, signal });
    // It reports "unknown" for the request, which has not been sent: the interface knows better.
    if (!reply.ok) throw new Failure("account", "unknown", `the gate answered ${reply.status}`);
    const { word, good_ms } = (await reply.json()) as { word: string; good_ms: number };
    this.pass = { word, untilMs: Date.now() + good_ms };
    return word;
  }
}

const telegraphCodec = (gate: Gate, seal: string): Codec<Frame> => ({
  fields: ["top_p"],
  temperatureMax: 1,
  idHeader: "x-wire-number",
  prepare,
  target: ({ upstreamModel, request }) => ({
    path: `/voices/${upstreamModel}/${request.stream ? "live" : "whole"}`,
    headers: { "content-type": "application/telegram" },
  }),
  authorize: async ({ body = "" }: Outgoing, signal) => ({
    "x-pass": await gate.open(signal),
    "x-seal": sealOf(seal, body),
  }),
  framing: () => new Frames(),
  reader: () => new TelegramReader(),
  readError: (text) => troubleOf(readJson(text)),
});

function prepare({ request }: CallDraft): OutgoingBody {
  const lines = request.messages.map(({ role, content }) => ({ who: role, words: content }));
  const { top_p, ...unknown } = request.forwarded;
  const body = JSON.stringify({ lines, top_p });
  const ceiling = ',"most":9007199254740991'.length;
  const size = {
    bytes: Buffer.byteLength(body) + ceiling,
    messages: lines.length,
    tools: 0,
    images: 0,
    files: 0,
  };
  return {
    size,
    text: () => lines.map(({ words }) => JSON.stringify(words)).join(""),
    ignored: Object.keys(unknown),
    print: (most) => `${body.slice(0, -1)},"most":${most}}`,
    sent: () => {},
  };
}

interface Frame {
  kind: string;
  text: string;
}

const FRAME_BYTES_MAX = 1024 * 1024;

/** Four bytes of length, one of kind, then as much text. */
class Frames implements Framing<Frame> {
  private left = Buffer.alloc(0);
  private odd = false;

  push(bytes: Uint8Array): Frame[] {
    if (this.odd) throw new Failure("broken", "unknown", "a frame without end");
    this.left = Buffer.concat([this.left, bytes]);
    const frames: Frame[] = [];
    while (this.left.length >= 5) {
      const end = 5 + this.left.readUInt32BE(0);
      this.odd = end > FRAME_BYTES_MAX; // reported with the next bytes: the frames before it count
      if (this.odd || this.left.length < end) break;
      frames.push({
        kind: String.fromCharCode(this.left.readUInt8(4)),
        text: this.left.toString("utf8", 5, end),
      });
      this.left = this.left.subarray(end);
    }
    return frames;
  }
}

class TelegramReader implements AnswerReader<Frame> {
  id: string | null = null;
  usageTold = false;
  began = false;
  private reason: FinishReason | null = null;
  private heard = 0;

  get complete(): boolean {
    return this.reason !== null;
  }

  event({ kind, text }: Frame, parts: Part[]): EventEnd {
    switch (kind) {
      case "N":
        this.id = text;
        return null;
      case "W":
        this.began = true;
        parts.push({ type: "text", choice: 0, text });
        return null;
      case "U":
        this.tell(readObject(text, "a count"), parts);
        return null;
      case "E":
        return troubleOf(readJson(text));
      case "S":
        this.reason = text === "out of paper" ? "length" : "stop";
        return null;
      default:
        return "done";
    }
  }

  whole(text: string, parts: Part[]): void {
    const { number, words, count, stopped } = readObject(text, "a telegram");
    this.id = String(number);
    parts.push({ type: "text", choice: 0, text: String(words) });
    this.tell(isJsonObject(count) ? count : {}, parts);
    this.reason = stopped === "out of paper" ? "length" : "stop";
  }

  close(parts: Part[]): void {
    if (this.reason !== null) parts.push({ type: "finish", choice: 0, reason: this.reason });
  }

  /** Input usage is reported first, output usage last and as the total. */
  private tell({ heard, spared, spoken }: Record<string, unknown>, parts: Part[]): void {
    this.usageTold = true;
    if (typeof heard === "number") this.heard = heard;
    parts.push({
      type: "usage",
      usage: {
        promptTokens: this.heard,
        completionTokens: Number(spoken ?? 0),
        ...NO_CLASSES,
        cachedTokens: typeof spared === "number" ? spared : null,
      },
    });
  }
}

/** Its statuses mean nothing elsewhere. */
const MEANS: Record<string, FailureCause> = { too_eager: "rate_limited", shut: "unavailable" };

const wordOf = (value: unknown): string => (typeof value === "string" ? value : "");

function troubleOf(body: unknown): UpstreamError {
  const trouble = isJsonObject(body) && isJsonObject(body["trouble"]) ? body["trouble"] : {};
  const sort = wordOf(trouble["sort"]);
  const cause = MEANS[sort];
  const wait = trouble["wait_s"];
  return {
    status: 0,
    code: sort,
    message: wordOf(trouble["words"]),
    param: null,
    retryAfterMs: typeof wait === "number" ? wait * 1000 : null,
    ...(cause !== undefined && { cause }),
  };
}

// What the tests of this directory share: a call to make, and an upstream on a loopback port that answers with
// exactly the bytes that a test gives it.
import { createServer, type Server, type Socket } from "node:net";
import { NO_CAPABILITIES } from "../../domain/capabilities.ts";
import { type ChatRequest, emptyRequest } from "../../domain/chat-request.ts";
import { DIALECTS } from "./dialects.ts";
import type { Release } from "../../domain/release.ts";
import { ZERO_USD } from "../../domain/money.ts";
import { keyHeader } from "../credentials/api-key.ts";
import type { Authorize } from "../codec.ts";
import { Failure } from "../failure.ts";
import { providerOver } from "../http/http.fixtures.ts";
import type { ProviderAddress as At } from "../http/http-provider.ts";
import { type OpenAiAccount, openAiCodec } from "./codec.ts";
import { outgoingBody } from "./outgoing-body.ts";
import type { CallDraft, Part, Provider, ProviderCall } from "../provider.ts";

const release: Release = {
  digest: "0".repeat(64),
  route: "m@acme/us-east",
  version: 1,
  model: "public-model",
  provider: "acme",
  upstreamModel: "acme/upstream-model",
  region: "us-east",
  tier: "standard",
  requiresPaid: false,
  contextWindow: 100_000,
  maxOutputTokens: 8192,
  defaultOutputTokens: 1024,
  price: { input: ZERO_USD, cachedInput: ZERO_USD, output: ZERO_USD, requestMinimum: ZERO_USD },
  publishedPrice: { input_per_million: "0", output_per_million: "0", request_minimum: "0" },
  reasoning: null,
  tokenizer: "o200k_base",
  capabilities: NO_CAPABILITIES,
  imageTokensMax: 1000,
  fileTokensMax: 5000,
  filePagesMax: 100,
  remoteImages: false,
  defaults: {},
  priority: 0,
  weight: 1,
  issuedAtMs: 0,
  expiresAtMs: Number.MAX_SAFE_INTEGER,
  signedBy: "key",
};

export const chatRequest = (change: Partial<ChatRequest> = {}): ChatRequest => ({
  ...emptyRequest(),
  model: "public-model",
  messages: [{ role: "user", content: "Hi" }],
  ...change,
});

export const callDraft = (change: Partial<CallDraft> = {}): CallDraft => ({
  release,
  request: chatRequest(),
  reasoningEffort: null,
  temperature: null,
  identifiers: {},
  ...change,
});

interface CallChange extends Partial<CallDraft> {
  signal?: AbortSignal;
}

export const providerCall = ({ signal, ...change }: CallChange = {}): ProviderCall => {
  const draft = callDraft(change);
  return {
    requestId: "req_1",
    attempt: 1,
    request: draft.request,
    body: outgoingBody(draft, { family: "acme", dialect: DIALECTS.openai }),
    upstreamModel: draft.release.upstreamModel,
    outputCeiling: 64,
    signal: signal ?? new AbortController().signal,
  };
};

export const streamCall = (change: CallChange = {}): ProviderCall =>
  providerCall({ request: chatRequest({ stream: true }), ...change });

const bearer = (key: string): Authorize => {
  const proof = keyHeader("authorization", key);
  return () => proof;
};

/** Returns an adapter for an address, with limits that are not reached unless a test sets them. */
export const providerAt = (
  baseUrl: string,
  {
    authorize = bearer("provider-key"),
    dialect = DIALECTS.openai,
    ...change
  }: Partial<At & OpenAiAccount> = {},
): Provider => providerOver(openAiCodec({ family: "acme", authorize, dialect }), baseUrl, change);

/** One request as the upstream received it. */
export interface Got {
  head: string;
  body: string;
  socket: Socket;
  /** Resolves when the connection is closed. */
  closed: Promise<void>;
}

export interface Upstream extends AsyncDisposable {
  url: string;
  got: Got[];
}

/** Serves HTTP/1.1 by hand: `answer` gets every request and writes anything it likes. */
export async function startUpstream(answer: (got: Got) => void): Promise<Upstream> {
  const got: Got[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => {}); // many tests cause resets
    socket.once("close", () => sockets.delete(socket));
    let pending = Buffer.alloc(0);
    socket.on("data", (bytes) => {
      pending = Buffer.concat([pending, bytes]);
      for (let request = whole(pending); request !== null; request = whole(pending)) {
        pending = pending.subarray(request.size);
        const { head, body } = request;
        const one = { head, body, socket, closed };
        got.push(one);
        answer(one);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the upstream has no port");
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    got,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function whole(bytes: Buffer): { head: string; body: string; size: number } | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const head = bytes.subarray(0, end).toString("latin1");
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
  const size = end + 4 + length;
  return bytes.length < size ? null : { head, body: bytes.subarray(end + 4, size).toString(), size };
}

/** Returns a whole response as bytes. */
export function httpReply(
  status: number,
  body: string,
  headers: Record<string, string> = { "content-type": "application/json" },
): string {
  const lines = Object.entries({ "content-length": String(Buffer.byteLength(body)), ...headers });
  return `HTTP/1.1 ${status} X\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
}

/** The head of an event stream that ends with its connection. */
export const STREAM_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

export const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
export const delta = (fields: object, finish: string | null = null): unknown => ({
  id: "up-1",
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});
export const DONE = "data: [DONE]\n\n";

/** Returns all parts of a stream, and how it ended. `afterEach` runs when a group of parts has arrived. */
export async function collect(
  provider: Provider,
  call: ProviderCall,
  afterEach: () => void = () => {},
): Promise<{ parts: Part[]; failure: Failure | null }> {
  const parts: Part[] = [];
  try {
    for await (const group of (await provider.stream(call)).parts) {
      parts.push(...group);
      afterEach();
    }
    return { parts, failure: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { parts, failure: error };
  }
}

/** Returns the failure that a call ends with. */
export async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error("the call did not fail");
}

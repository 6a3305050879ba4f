// The benchmark's upstream: a minimal OpenAI-shaped server that plays the scripts of scripts.ts and keeps its own bill.
// It must stay far cheaper than any gateway under test, so answers are built once and no body is validated.
import { AccountBill } from "./upstream-bill.ts";
import { SCRIPTS, isScriptName } from "./scripts.ts";
import type { FloodScript, ScriptName, StreamScript } from "./scripts.ts";
import { EMBEDDINGS, MESSAGES, RESPONSES } from "./surface-bodies.ts";
import type { StreamBodies, SurfaceBodies } from "./surface-bodies.ts";
import { FLOOD_EVENT, STREAM_EVENT, STREAM_ROLE, jsonAnswer, streamEnd } from "./upstream-bodies.ts";

const SSE_HEADERS = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };
const bills = new Map<string, AccountBill>();

function billOf(account: string): AccountBill {
  let bill = bills.get(account);
  if (bill === undefined) bills.set(account, (bill = new AccountBill()));
  return bill;
}

/** One call in progress: whichever of `finish` and `cut` comes first is billed. */
class Call {
  #open = true;
  readonly #bill: AccountBill;
  readonly model: ScriptName;
  constructor(bill: AccountBill, model: ScriptName) {
    this.#bill = bill;
    this.model = model;
  }
  get open(): boolean {
    return this.#open;
  }
  finish(): void {
    if (this.#open) this.#bill.finished(this.model);
    this.#open = false;
  }
  cut(): void {
    if (this.#open) this.#bill.cut(this.model);
    this.#open = false;
  }
}

const CHAT: StreamBodies = { start: STREAM_ROLE, chunk: () => STREAM_EVENT, end: streamEnd };

function streamAnswer(
  script: StreamScript,
  call: Call,
  bodies: StreamBodies = CHAT,
): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sent = 0;
  const step = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    if (!call.open) return;
    if (sent === script.chunks) {
      call.finish();
      controller.enqueue(bodies.end(script.completionTokens));
      controller.close();
      return;
    }
    controller.enqueue(bodies.chunk(sent));
    sent += 1;
    timer = setTimeout(
      step,
      script.silence?.before === sent ? script.silence.ms : script.everyMs,
      controller,
    );
  };
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(bodies.start);
      step(controller);
    },
    cancel: () => {
      clearTimeout(timer);
      call.cut();
    },
  });
}

async function* floodAnswer(script: FloodScript, call: Call): AsyncGenerator<Uint8Array> {
  yield STREAM_ROLE;
  for (let sent = 0; sent < script.totalBytes && call.open; sent += FLOOD_EVENT.byteLength) yield FLOOD_EVENT;
  call.finish();
  yield streamEnd(script.completionTokens);
}

async function complete(request: Request): Promise<Response> {
  const body = (await request.json()) as { model?: unknown };
  const model = String(body.model);
  if (!isScriptName(model))
    return Response.json({ error: { message: `no script ${model}` } }, { status: 404 });
  const bill = billOf(request.headers.get("authorization")?.replace("Bearer ", "") ?? "none");
  bill.received(model, request.headers.get("x-request-id"));
  const call = new Call(bill, model);
  request.signal.addEventListener("abort", () => call.cut());
  const script = SCRIPTS[model];
  if (script.kind === "stream") return new Response(streamAnswer(script, call), { headers: SSE_HEADERS });
  if (script.kind === "flood") return new Response(floodAnswer(script, call), { headers: SSE_HEADERS });
  if (script.delayMs > 0) await Bun.sleep(script.delayMs);
  call.finish();
  return new Response(jsonAnswer(model), { headers: { "content-type": "application/json" } });
}

/** Other surfaces say what `bench-json-1k` and `bench-sse-50x5` say, whatever model is requested. */
async function answerAs({ whole, stream }: SurfaceBodies, request: Request): Promise<Response> {
  const { stream: streamed } = (await request.json()) as { stream?: boolean };
  const model = streamed === true && stream !== null ? "bench-sse-50x5" : "bench-json-1k";
  const bill = billOf(request.headers.get("authorization")?.replace("Bearer ", "") ?? "none");
  bill.received(model, request.headers.get("x-request-id"));
  const call = new Call(bill, model);
  request.signal.addEventListener("abort", () => call.cut());
  if (streamed === true && stream !== null)
    return new Response(streamAnswer(SCRIPTS["bench-sse-50x5"], call, stream), { headers: SSE_HEADERS });
  call.finish();
  return new Response(whole, { headers: { "content-type": "application/json" } });
}

const server = Bun.serve({
  port: Number(process.env["PORT"] ?? 0),
  hostname: "127.0.0.1",
  idleTimeout: 0,
  routes: {
    "/v1/chat/completions": { POST: complete },
    "/v1/responses": { POST: (request) => answerAs(RESPONSES, request) },
    "/v1/messages": { POST: (request) => answerAs(MESSAGES, request) },
    "/v1/embeddings": { POST: (request) => answerAs(EMBEDDINGS, request) },
    "/v1/models": Response.json({ object: "list", data: [] }),
    "/bill": (request) =>
      Response.json(billOf(new URL(request.url).searchParams.get("account") ?? "").print()),
  },
});
console.log(`ready ${server.port}`);

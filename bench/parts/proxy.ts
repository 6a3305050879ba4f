// The bare proxy with chosen parts of a gateway's shell, by name in PARTS (JSON list), for the table of parts.
import { HEADERS_READ } from "../headers-read.ts";
import { openSync, writeSync } from "node:fs";
import pino from "pino";
import { layers, steps } from "./many-functions.ts";
import { PARTS, type Part } from "./parts.ts";

const upstream = process.env["UPSTREAM"] ?? "";
const chosen: ReadonlySet<string> = new Set(JSON.parse(process.env["PARTS"] ?? "[]") as string[]);
const unknown = [...chosen].filter((part) => !PARTS.some((known) => known === part));
if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(", ")}`);
const has = (part: Part): boolean => chosen.has(part);

const READ_HEADERS = has("nine headers read");
const TEXT = has("body as text");
const PARSED = has("request and answer parsed and printed");
const IDLE_TIMEOUTS = has("server.timeout() twice");
const CONTROLLER = has("one AbortController, tied to the client");
const SECOND = has("a second AbortController, tied to the first");
const TIMERS = has("two setTimeout, cleared");
const OUTGOING = has("five more headers upstream");
const OPTIONS = has("redirect, proxy and timeout options");
const ANSWER_TEXT = has("answer by text()");
const ANSWER_HEADERS = has("four more headers in the answer");
const ADDRESS = has("requestIP()");
const PINO = has("a pino line to /dev/null");
const LINES = has("the same line in one buffered write");
const IMMEDIATES = has("two setImmediate");
const AWAITS = has("twenty awaits");
const ASYNC_FUNCTIONS = has("thirteen async functions around one another") ? 13 : 0;
const OBJECTS = has("250 objects for the collector") ? 250 : 0;
const FUNCTIONS = has("300 functions, each called once")
  ? 300
  : has("ten of them, each called 30 times")
    ? 10
    : 0;
const STEPS = 300;

const MORE = {
  accept: "application/json",
  "user-agent": "tollgate-bench",
  "x-request-id": "req_0123456789abcdef",
  "idempotency-key": "req_0123456789abcdef",
  "accept-encoding": "identity",
};
const ANSWERED = {
  "x-request-id": "req_0123456789abcdef",
  "x-gateway-credits-available": "100000.00",
  "x-gateway-limit-remaining": "100000.00",
  "cache-control": "no-store",
};
const log = pino(pino.destination({ dest: "/dev/null", sync: false, minLength: 4096 }));
const nowhere = openSync("/dev/null", "a");
const immediate = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const late = (): void => {};
const nothing = async (): Promise<void> => {};
const through = await layers(ASYNC_FUNCTIONS);
const chosenSteps = await steps(FUNCTIONS);

/** Stores unused results, so that the compiler cannot drop the work. */
let kept: unknown;

let lines = "";
function write(line: string): void {
  lines += line;
  if (lines.length < 65_536) return;
  writeSync(nowhere, lines);
  lines = "";
}

/** The signal of the upstream call, passed through this many abort controllers. */
function signalOf(request: Request): AbortSignal {
  if (!CONTROLLER) return request.signal;
  const first = new AbortController();
  request.signal.addEventListener("abort", () => first.abort());
  if (!SECOND) return first.signal;
  const second = new AbortController();
  first.signal.addEventListener("abort", () => second.abort());
  return second.signal;
}

async function bodyOf(request: Request): Promise<string | ArrayBuffer> {
  if (PARSED) return JSON.stringify(JSON.parse(await request.text()));
  return TEXT ? request.text() : request.arrayBuffer();
}

async function answerOf(answer: Response): Promise<string | Response["body"]> {
  if (PARSED) return JSON.stringify(JSON.parse(await answer.text()));
  return ANSWER_TEXT ? answer.text() : answer.body;
}

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  fetch: async (request, bun) => {
    const sinceMs = performance.now();
    if (READ_HEADERS) kept = HEADERS_READ.map((name) => request.headers.get(name));
    if (IDLE_TIMEOUTS) bun.timeout(request, 30);
    if (AWAITS) for (let n = 0; n < 20; n += 1) await nothing();
    if (ASYNC_FUNCTIONS > 0) kept = await through(request);
    if (OBJECTS > 0)
      kept = Array.from({ length: OBJECTS }, (_, n) => ({ n, sinceMs, of: request, a: n, b: n, c: n }));
    if (FUNCTIONS > 0) {
      const of = { sum: 1 };
      for (let n = 0; n < STEPS; n += 1) chosenSteps[n % FUNCTIONS]?.(of);
      kept = of;
    }
    const timers = TIMERS ? [setTimeout(late, 60_000), setTimeout(late, 300_000)] : [];
    if (IMMEDIATES) await immediate();
    const body = await bodyOf(request);
    if (IDLE_TIMEOUTS) bun.timeout(request, 0);
    const answer = await fetch(upstream + new URL(request.url).pathname, {
      method: request.method,
      headers: {
        "content-type": "application/json",
        authorization: request.headers.get("authorization") ?? "",
        ...(OUTGOING ? MORE : {}),
      },
      body,
      signal: signalOf(request),
      ...(OPTIONS ? { redirect: "manual", proxy: false, timeout: false } : {}),
    });
    const printed = await answerOf(answer);
    for (const timer of timers) clearTimeout(timer);
    if (IMMEDIATES) await immediate();
    if (ADDRESS) kept = bun.requestIP(request)?.address;
    const ms = Math.round(performance.now() - sinceMs);
    if (PINO) log.info({ id: MORE["x-request-id"], method: "POST", status: answer.status, ms });
    if (LINES) write(`{"level":30,"id":"${MORE["x-request-id"]}","method":"POST","status":200,"ms":${ms}}\n`);
    return new Response(printed, {
      status: answer.status,
      headers: {
        "content-type": answer.headers.get("content-type") ?? "application/json",
        ...(ANSWER_HEADERS ? ANSWERED : {}),
      },
    });
  },
});
process.on("exit", () => kept === lines);
console.log(`ready ${server.port}`);

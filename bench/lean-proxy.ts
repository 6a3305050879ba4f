// The floor of a gateway in Bun: the least that its shell must do, around a ledger that decides nothing, or none. It
// reads the same headers, parses the request and the answer, restamps and prints them, ties the upstream call to one
// abort signal, has a deadline, counts usage, answers with the same headers and writes an access line (performance.md
// §5).
import { HEADERS_READ } from "./headers-read.ts";
import { openSync, writeSync } from "node:fs";
import type { LeanLedger } from "./lean-books.ts";

const upstream = process.env["UPSTREAM"] ?? "";
const DEADLINE_MS = 300_000;
const LINES_AT_ONCE = 64 * 1024;
const log = openSync(process.env["LOG"] ?? "/dev/null", "a");

interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
}

/** One timer for the deadlines of all calls. */
const deadlines = new Map<AbortController, number>();
setInterval(() => {
  const nowMs = performance.now();
  for (const [call, untilMs] of deadlines) if (untilMs < nowMs) call.abort();
}, 100);

let lines = "";
function note(id: string, status: number, sinceMs: number): void {
  lines += `{"level":30,"id":"${id}","method":"POST","status":${status},"ms":${Math.round(performance.now() - sinceMs)}}\n`;
  if (lines.length < LINES_AT_ONCE) return;
  writeSync(log, lines);
  lines = "";
}

const costOf = (usage: Usage): number => usage.prompt_tokens * 500 + usage.completion_tokens * 1500;

/** The event as the gateway sends it: with the gateway's id, and the price in its usage. */
function restamped(event: string, id: string): string {
  if (!event.startsWith("data: {")) return `${event}\n\n`;
  const part = JSON.parse(event.slice(6)) as { id: string; usage: Usage | null; gateway?: object };
  part.id = id;
  if (part.usage) part.gateway = { cost: costOf(part.usage) };
  return `data: ${JSON.stringify(part)}\n\n`;
}

/** The last event waits for `settled`. */
async function* events(
  answer: Response,
  id: string,
  { settled, done }: { settled: () => Promise<void> | undefined; done: () => void },
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const bytes of answer.body ?? []) {
      const parts = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
      rest = parts.pop() ?? "";
      let out = "";
      for (const event of parts) {
        if (event === "data: [DONE]") await settled();
        out += restamped(event, id);
      }
      if (out !== "") yield out;
    }
  } finally {
    done();
  }
}

/** Serves until the process ends, and prints its port to stdout; without a ledger it is the shell alone. */
export function serveLean(ledger: LeanLedger | null): void {
  const server = Bun.serve({
    port: Number(process.env["PORT"] ?? 0),
    hostname: "127.0.0.1",
    idleTimeout: 30,
    fetch: async (request, bun) => {
      const sinceMs = performance.now();
      const [authorization] = HEADERS_READ.map((name) => request.headers.get(name));
      const asked = JSON.parse(await request.text()) as { model: string; stream?: boolean };
      await ledger?.prove();
      bun.timeout(request, 0);
      const id = (await ledger?.admit()) ?? crypto.randomUUID();
      const call = new AbortController();
      request.signal.addEventListener("abort", () => call.abort());
      deadlines.set(call, sinceMs + DEADLINE_MS);
      const answer = await fetch(`${upstream}/v1/chat/completions`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: asked.stream === true ? "text/event-stream" : "application/json",
          "user-agent": "lean-shell",
          "x-request-id": id,
          authorization: authorization ?? "",
        },
        body: JSON.stringify(asked),
        signal: call.signal,
        redirect: "manual",
      });
      const headers = {
        "content-type": "application/json",
        "x-request-id": id,
        "x-gateway-available": "1.0",
      };
      const done = (): void => {
        deadlines.delete(call);
        note(id, answer.status, sinceMs);
      };
      if (asked.stream === true) {
        headers["content-type"] = "text/event-stream";
        return new Response(events(answer, id, { done, settled: () => ledger?.settle(id) }), {
          headers: { ...headers, "cache-control": "no-store" },
        });
      }
      const body = JSON.parse(await answer.text()) as { id: string; usage: Usage; gateway?: object };
      await ledger?.settle(id);
      done();
      body.id = id;
      body.gateway = { request_id: id, cost: costOf(body.usage) };
      return new Response(JSON.stringify(body), { status: answer.status, headers });
    },
  });
  console.log(`ready ${server.port}`);
}

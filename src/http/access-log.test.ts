// The line of a request is printed by hand: it is the same that the log itself would print.
import { expect, test } from "bun:test";
import { createLog } from "../lib/log.ts";
import { AccessLog } from "./access-log.ts";

const RECEIVED_AT_MS = Date.UTC(2026, 10, 22, 9, 0, 0, 7);
const ANSWERED_AT_MS = RECEIVED_AT_MS + 12;
const clock = { nowMs: () => ANSWERED_AT_MS, monotonicMs: () => 0 };
const metrics = { responded: () => {}, unkeyedRetry: () => {} };

function printed(write: (log: ReturnType<typeof createLog>) => void, level = "info"): string {
  const lines: string[] = [];
  write(createLog(level, { write: (line) => void lines.push(line) }));
  return lines.join("");
}

interface Exchange {
  target: string;
  path: string;
  address?: string | null;
  status?: number;
}

const about = ({ target }: Exchange) => ({
  request: new Request(`http://gateway.example:8080${target}`, { method: "PUT" }),
  requestId: "req_01",
  receivedAtMs: RECEIVED_AT_MS,
});

const line = (exchange: Exchange, level?: string): string =>
  printed((log) => {
    const { address = "10.0.0.7", status = 200 } = exchange;
    const response = new Response("", { status });
    new AccessLog(log, clock, metrics).note(response, { ...about(exchange), address }, null);
  }, level);

const ofTheLog = ({ path, address = "10.0.0.7", status = 200 }: Exchange): string =>
  printed((log) =>
    log.info({ id: "req_01", method: "PUT", path, status, address, ms: ANSWERED_AT_MS - RECEIVED_AT_MS }),
  ).replace(/"time":"[^"]+"/, `"time":"${new Date(ANSWERED_AT_MS).toISOString()}"`);

const LONG = "/long".repeat(40);

for (const [what, exchange] of Object.entries<Exchange>({
  "a plain path": { target: "/v1/models", path: "/v1/models" },
  "a query, which is left out": { target: "/v1/models?api_key=canary", path: "/v1/models" },
  "a path longer than a line wants": { target: LONG, path: LONG.slice(0, 100) },
  "quotes and backslashes": { target: "/%22\\u0041'`~{}|", path: "/%22/u0041'%60~%7B%7D|" },
  "no address": { target: "/", path: "/", address: null, status: 503 },
  "an address of IPv6": { target: "/", path: "/", address: 'fe80::1%"eth0\\\n', status: 401 },
}))
  test(`the line is that of the log: ${what}`, () => {
    expect(line(exchange)).toBe(ofTheLog(exchange));
  });

test("above its level there is no line", () => {
  expect(line({ target: "/", path: "/" }, "warn")).toBe("");
});

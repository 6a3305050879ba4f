// The line of a request is printed by hand and must equal what the log itself would print.
import { expect, test } from "bun:test";
import { createLog } from "../lib/log.ts";
import { Refusal } from "../domain/refusals.ts";
import { AccessLog } from "./access-log.ts";
import { replyRefusal } from "./reply.ts";

const ANSWERED_AT_MS = Date.UTC(2026, 10, 22, 9, 0, 0, 19);
const TOOK_MS = 12;
const clock = { nowMs: () => ANSWERED_AT_MS, monotonicMs: () => TOOK_MS };
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
  arrivedMs: 0,
  org: null as string | null,
});

const line = (exchange: Exchange, level?: string): string =>
  printed((log) => {
    const { address = "10.0.0.7", status = 200 } = exchange;
    const response = new Response("", { status });
    new AccessLog(log, clock, metrics).note(response, { ...about(exchange), address }, null);
  }, level);

const ofTheLog = ({ path, address = "10.0.0.7", status = 200 }: Exchange): string =>
  printed((log) => log.info({ id: "req_01", method: "PUT", path, status, address, ms: TOOK_MS })).replace(
    /"time":"[^"]+"/,
    `"time":"${new Date(ANSWERED_AT_MS).toISOString()}"`,
  );

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

test("a refusal's code and the organization of a proven key are in the line, and nothing of them can be forged", () => {
  const refusal = new Refusal("rate_limit_exceeded", 'No","org":"org_other"}\n{', {
    headers: { "x-code": "y" },
  });
  const written = printed((log) =>
    new AccessLog(log, clock, metrics).note(
      replyRefusal("req_01", refusal, { gateway: "{}" }),
      { ...about({ target: '/v1/"},"org":"org_other', path: "" }), address: "10.0.0.7", org: "org_mine" },
      "chat.completions",
    ),
  );
  expect(written.split("\n")).toHaveLength(2);
  expect(JSON.parse(written)).toMatchObject({ status: 429, code: "rate_limit_exceeded", org: "org_mine" });
  expect(Object.keys(JSON.parse(written) as object)).toEqual([
    "level",
    "time",
    "id",
    "method",
    "path",
    "status",
    "code",
    "org",
    "address",
    "ms",
  ]);
});

for (const path of ["/healthz", "/readyz", "/metrics"])
  test(`${path} has a line only where it does not say yes`, () => {
    expect(line({ target: path, path })).toBe("");
    const refused = { target: path, path, status: 503 };
    expect(line(refused)).toBe(ofTheLog(refused));
  });

test("above its level there is no line", () => {
  expect(line({ target: "/", path: "/" }, "warn")).toBe("");
});

test("of a flood of refusals a thousand have a line, and every call that is answered among them has", () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog("info", {
    write: (text) => void lines.push(JSON.parse(text) as Record<string, unknown>),
  });
  const access = new AccessLog(log, clock, metrics);
  const note = (status: number, surface: string | null): void =>
    access.note(
      new Response("", { status }),
      { ...about({ target: "/v1/chat/completions", path: "" }), address: null },
      surface,
    );
  for (let n = 0; n < 5_000; n += 1) note(401, "chat.completions");
  for (let n = 0; n < 10; n += 1) note(200, "chat.completions");
  access.close();
  const of = (status: number): number => lines.filter((line) => line["status"] === status).length;
  expect([of(401), of(200), lines.at(-1)?.["left_out"]]).toEqual([1_000, 10, { "401": 4_000 }]);
});

test("a retry without a key of its own is told by its line, from which its request is found", () => {
  const headers = { "x-stainless-retry-count": "2" };
  const request = new Request("http://gateway.example/v1/chat/completions", { method: "POST", headers });
  const text = printed((log) =>
    new AccessLog(log, clock, metrics).note(
      new Response(""),
      { ...about({ target: "/", path: "/" }), request, address: null },
      "chat.completions",
    ),
  );
  expect(JSON.parse(text)).toMatchObject({ id: "req_01", unkeyed_retry: true });
});

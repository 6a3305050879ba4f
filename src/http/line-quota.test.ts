import { expect, test } from "bun:test";
import { LineQuota } from "./line-quota.ts";

function quota() {
  const told: object[] = [];
  const lines = new LineQuota((leftOut) => told.push(leftOut));
  const send = (requests: number, status: number, nowMs: number): number =>
    Array.from({ length: requests }, () => lines.takes(status, nowMs)).filter(Boolean).length;
  return { lines, told, send };
}

test("a thousand in ten seconds have a line; of the rest is told how many there were, by status, once the window is over", () => {
  const { told, send } = quota();
  expect([send(900, 401, 0), send(600, 401, 9_999), send(50, 404, 9_999), told]).toEqual([900, 100, 0, []]);
  expect([send(2_000, 401, 10_000), told]).toEqual([1_000, [{ "401": 500, "404": 50 }]]);
});

test("nothing is told where nothing was left out; at the end what there is", () => {
  const { lines, told, send } = quota();
  send(10, 401, 0);
  send(1_001, 429, 20_000);
  lines.close();
  lines.close();
  expect(told).toEqual([{ "429": 1 }]);
});

test("a clock that is set back shuts nobody out", () => {
  const { send } = quota();
  send(1_000, 401, 1_000_000);
  expect(send(5, 401, 0)).toBe(5);
});

import { expect, test } from "bun:test";
import { Failure } from "../providers/failure.ts";
import { reportsOf, type ReportsPorts } from "./reports.ts";

type Report = Parameters<ReturnType<typeof reportsOf>>;

test("an operator's log says why a credential cannot be read; what members may read names no path", () => {
  const lines: object[] = [];
  const health: unknown[] = [];
  const ports: ReportsPorts = {
    clock: { monotonicMs: () => 0 },
    health: {
      report: (...told: unknown[]) => {
        health.push(told.at(-1));
        return null;
      },
    },
    metrics: { attempted: () => {}, overloaded: () => {} },
    log: {
      error: (about: object) => void lines.push(about),
      warn: (about: object) => void lines.push(about),
    } as unknown as ReportsPorts["log"],
  };
  const words = "the token file cannot be read (ENOENT)";
  const failure = new Failure("account", "no", "the token file /run/t cannot be read (ENOENT)", { words });
  const candidate = { release: { provider: "aws", route: "m@aws/eu" } } as Report[0];
  reportsOf(ports)(candidate, failure, { requestId: "req_1", organizationId: "org_a" }, "account");
  expect(lines).toEqual([
    {
      id: "req_1",
      provider: "aws",
      route: "m@aws/eu",
      status: null,
      words,
      why: "the token file /run/t cannot be read (ENOENT)",
    },
  ]);
  expect(health).toEqual([words]);
});

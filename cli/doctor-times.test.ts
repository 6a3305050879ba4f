// A time in seconds where milliseconds are read is a valid setting, and ends every call.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../src/config/config.ts";
import { timeFindings } from "./doctor-times.ts";

test("seconds where milliseconds are read are noted with the setting, and the defaults are not", () => {
  const cwd = mkdtempSync(join(tmpdir(), "tollgate-times-"));
  try {
    const found = (yaml: string): unknown => {
      writeFileSync(join(cwd, "tollgate.yaml"), yaml);
      return timeFindings(loadConfig({ env: {}, cwd, flags: {} })).map(({ found, next }) => [found, next]);
    };
    expect(found("")).toEqual([]);
    expect(found("limits: { request_timeout_ms: 600, stop_grace_ms: 1, drain_delay_ms: 5 }")).toEqual([
      [
        "limits.request_timeout_ms is 600 ms: most calls end before they are answered",
        "It is in milliseconds: 600 seconds are 600000.",
      ],
    ]);
    expect(found("providers: [{ name: a, kind: ollama, timeouts: { total_ms: 300 } }]")).toEqual([
      [
        "timeouts.total_ms of a is 300 ms: most calls end before they are answered",
        "It is in milliseconds: 300 seconds are 300000.",
      ],
    ]);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
});

// A time in seconds where milliseconds are read is a valid setting, and ends every call.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "./config.ts";
import { shortTimes } from "./short-times.ts";

test("seconds where milliseconds are read are found with their setting, and the defaults are not", () => {
  const cwd = mkdtempSync(join(tmpdir(), "tollgate-times-"));
  try {
    const found = (yaml: string): unknown => {
      writeFileSync(join(cwd, "tollgate.yaml"), yaml);
      return shortTimes(loadConfig({ env: {}, cwd, flags: {} }));
    };
    expect(found("")).toEqual([]);
    expect(found("limits: { request_timeout_ms: 600, stop_grace_ms: 1, drain_delay_ms: 5 }")).toEqual([
      { setting: "limits.request_timeout_ms", ms: 600 },
    ]);
    expect(found("providers: [{ name: a, kind: ollama, timeouts: { total_ms: 300 } }]")).toEqual([
      { setting: "providers[0].timeouts.total_ms", ms: 300 },
    ]);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
});

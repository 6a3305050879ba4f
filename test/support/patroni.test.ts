// If Patroni cannot run, its test is skipped and says what is missing; it does not fail.
import { expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingOf } from "./patroni.ts";

test("Patroni counts as missing if its Raft cannot start, or if it is not installed", () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-patroni-"));
  const raft = (exitCode: number): string => {
    const file = join(folder, `raft-${exitCode}`);
    writeFileSync(file, `#!/bin/sh\nexit ${exitCode}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  try {
    expect(missingOf(raft(0))).toBeNull();
    expect(missingOf(raft(1))).toContain("python3-pysyncobj");
    expect(missingOf(join(folder, "none"))).toContain("no patroni");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

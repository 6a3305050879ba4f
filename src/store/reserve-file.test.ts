import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { openReserveFile } from "./reserve-file.ts";

test("the reserved space exists even on a file system that compresses", () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-reserve-"));
  try {
    expect(openReserveFile(folder).whole).toBe(true);
    const path = join(folder, "ballast");
    const { size, blocks } = statSync(path);
    expect(blocks * 512).toBeGreaterThanOrEqual(size);
    const bytes = readFileSync(path);
    const record = 128 * 1024; // what such file systems compress at a time
    for (let at = 0; at < size; at += size / 4)
      expect(deflateRawSync(bytes.subarray(at, at + record)).byteLength).toBeGreaterThan(record * 0.99);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JitDump } from "./jit-dump.ts";

const HEADER_BYTES = 40;

function header(): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt32LE(HEADER_BYTES, 8);
  return bytes;
}

function code(name: string, from: bigint, { size, sinceNs }: { size: bigint; sinceNs: bigint }): Buffer {
  const text = Buffer.from(`${name}\0`);
  const record = Buffer.alloc(56 + text.length);
  record.writeUInt32LE(record.length, 4);
  record.writeBigUInt64LE(sinceNs, 8);
  record.writeBigUInt64LE(from, 32);
  record.writeBigUInt64LE(size, 40);
  text.copy(record, 56);
  return record;
}

test("an address is resolved to the code there at that time, because memory is reused; a half-written last record is ignored", () => {
  const dir = mkdtempSync(join(tmpdir(), "tollgate-jit-"));
  try {
    const file = join(dir, "jit-1-1.dump");
    const codes = [
      code("JSC-FTL: settle#Ab3", 0x1000n, { size: 0x100n, sinceNs: 5n }),
      code("JSC-DFG: admit#Cd4", 0x2000n, { size: 0x10n, sinceNs: 6n }),
      code("JSC-FTL: relay#Ef5", 0x1000n, { size: 0x40n, sinceNs: 9n }),
      code("JSC-FTL: never", 0x3000n, { size: 0x10n, sinceNs: 1n }).subarray(0, 60),
    ];
    writeFileSync(file, Buffer.concat([header(), ...codes]));
    const dump = new JitDump(file);
    const names = (atNs: bigint) =>
      [0x0fffn, 0x1000n, 0x1050n, 0x1100n, 0x2008n, 0x3001n].map((address) => dump.nameAt(address, atNs));
    expect(names(7n)).toEqual([null, "FTL: settle", "FTL: settle", null, "DFG: admit", null]);
    expect(names(10n)).toEqual([null, "FTL: relay", "FTL: settle", null, "DFG: admit", null]);
    expect(dump.nameAt(0x1000n, 4n)).toBeNull();
  } finally {
    rmSync(dir, { recursive: true });
  }
});

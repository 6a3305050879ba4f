// Reads JavaScriptCore's dump of its compiled code, in perf's format: which function was at which address, and from
// when on.
import { readFileSync } from "node:fs";

interface Code {
  from: bigint;
  until: bigint;
  /** Nanoseconds of the monotonic clock. */
  sinceNs: bigint;
  /** Tier and function, as in `FTL: settledAnswer`. */
  name: string;
}

/** The type of a record for new code. */
const CODE_LOAD = 0;
/** Offsets within such a record. */
const AT = { address: 32, size: 40, name: 56 };

export class JitDump {
  /** Sorted by address. */
  private readonly codes: Code[] = [];

  constructor(file: string) {
    const dump = readFileSync(file);
    let at = dump.readUInt32LE(8);
    while (at + AT.name <= dump.length) {
      const bytes = dump.readUInt32LE(at + 4);
      if (bytes === 0 || at + bytes > dump.length) break; // the last record, half written
      if (dump.readUInt32LE(at) === CODE_LOAD) this.codes.push(codeAt(dump, at));
      at += bytes;
    }
    this.codes.sort((a, b) => Number(a.from - b.from));
  }

  /** The code at the address at this time; memory is reused. Null if the dump has none. */
  nameAt(address: bigint, atNs: bigint): string | null {
    let [low, high] = [0, this.codes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.codes[middle]?.from ?? 0n) <= address) low = middle + 1;
      else high = middle;
    }
    let found: Code | null = null;
    for (const code of this.codes.slice(Math.max(0, low - SAME_PLACE_AT_MOST), low))
      if (address < code.until && code.sinceNs <= atNs && (found?.sinceNs ?? 0n) <= code.sinceNs)
        found = code;
    return found?.name ?? null;
  }
}

/** At most this many entries before an address are searched for one that covers it. */
const SAME_PLACE_AT_MOST = 64;

function codeAt(dump: Buffer, at: number): Code {
  const from = dump.readBigUInt64LE(at + AT.address);
  const text = dump.toString("utf8", at + AT.name, dump.indexOf(0, at + AT.name));
  return {
    from,
    until: from + dump.readBigUInt64LE(at + AT.size),
    sinceNs: dump.readBigUInt64LE(at + 8),
    name: text.replace(/^JSC-/, "").replace(/#\w*$/, ""),
  };
}

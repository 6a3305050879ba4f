// Settlements that wait on disk for the database (money.md §2). If this process ends before the database is back, the
// next one in this directory settles them instead of leaving them to the sweeper. Answers in the file are sealed.
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { SPOOL_ASIDE_FILE } from "../../domain/data-files.ts";
import { nanoUsd } from "../../domain/money.ts";
import { runsBeside } from "../../lib/living-process.ts";
import { openAnswer, sealAnswer } from "../answer-vault.ts";
import type { MoneyOperation } from "../decide/decide.ts";
import type { Settlement, StoredAnswer, Voiding } from "../ledger.ts";

type Resolution = Extract<MoneyOperation, { kind: "settle" | "void" }>;

const isResolution = (operation: MoneyOperation): operation is Resolution =>
  operation.kind === "settle" || operation.kind === "void";

/** A settlement left by another process, not parsed yet. */
export interface Leftover {
  line: string;
  /** The request it belongs to, if that is legible. */
  place: { organizationId: string; requestId: string } | null;
  /** Throws if the line is damaged. */
  read(): MoneyOperation;
}

/** The file of one process. */
interface Left {
  entries: Leftover[];
  forget(): void;
}

export interface SpoolPorts {
  /** Names the file together with the process id: identifies the writer. */
  epoch: number;
  /** Called when a settlement could not be kept; it still waits in memory. */
  failed(error: unknown): void;
}

/** The host as it appears in file names. */
const HOST = encodeURIComponent(hostname());
/** Older programs left out the host. */
const NAME = /^spool-(?:(.+)-)?(\d+)-(\d+)\.jsonl$/;

/** This process's file, one line per settlement, and the files that earlier processes left beside it. */
export class Spool {
  private readonly waiting = new Set<MoneyOperation>();
  private readonly directory: string;
  private readonly dataKey: Uint8Array;
  private readonly path: string;
  private file: number | null = null;

  constructor(
    { dataDirectory, dataKey }: { dataDirectory: string; dataKey: Uint8Array },
    private readonly on: SpoolPorts,
  ) {
    this.directory = dataDirectory;
    this.dataKey = dataKey;
    this.path = join(dataDirectory, `spool-${HOST}-${on.epoch}-${process.pid}.jsonl`);
  }

  /**
   * On return, each operation that the directory has room for is durable; the others are retried with
   * the next ones. Never throws, because the writer has more to do.
   */
  keep(operations: readonly MoneyOperation[]): void {
    try {
      this.forgetTaken();
      const news = operations.filter(isResolution).filter((operation) => !this.waiting.has(operation));
      if (news.length === 0) return;
      this.file ??= openSync(this.path, "a", 0o600);
      for (const operation of this.append(this.file, news)) this.waiting.add(operation);
    } catch (error) {
      this.on.failed(error);
    }
  }

  /** A process that was evicted but still runs may have lost its file: what waits is then written again. */
  private forgetTaken(): void {
    if (this.file === null || fstatSync(this.file).nlink > 0) return;
    closeSync(this.file);
    this.file = null;
    this.waiting.clear();
  }

  /** Returns the operations that are durable now. A large one that does not fit does not block the others. */
  private append(file: number, operations: readonly Resolution[]): Resolution[] {
    const { size } = fstatSync(file);
    const kept: Resolution[] = [];
    let failure: unknown = null;
    for (const operation of operations) {
      try {
        appendWhole(file, `${JSON.stringify(this.printed(operation), printBigInt)}\n`);
        kept.push(operation);
      } catch (error) {
        failure ??= error;
      }
    }
    try {
      fsyncSync(file);
    } catch (error) {
      ftruncateSync(file, size); // whether they were written is not known: they are written again
      throw error;
    }
    if (failure !== null) this.on.failed(failure);
    return kept;
  }

  /** Moves a line out of the way of the next process. Durable on return. */
  setAside({ line }: Leftover): void {
    const file = openSync(join(this.directory, SPOOL_ASIDE_FILE), "a", 0o600);
    try {
      appendWhole(file, `${line}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  /** The database has taken the operation. The file is deleted with the last one: applying a settlement twice changes nothing. */
  taken(operation: MoneyOperation): void {
    if (!this.waiting.delete(operation) || this.waiting.size > 0 || this.file === null) return;
    try {
      closeSync(this.file);
      this.file = null;
      rmSync(this.path, { force: true });
    } catch (error) {
      this.on.failed(error);
    }
  }

  /**
   * Returns the files here of processes that have certainly ended or own nothing any more. Those of another host cannot
   * be checked; a running pid may by now be another program's. `owning` returns the epochs that still own requests.
   */
  async leftovers(owning: () => Promise<ReadonlySet<number>>): Promise<Left[]> {
    const names = [...new Bun.Glob("spool-*.jsonl").scanSync({ cwd: this.directory })];
    const others = names.flatMap(writtenBy).filter(({ name }) => join(this.directory, name) !== this.path);
    const owners = others.every(({ ended }) => ended) ? new Set<number>() : await owning();
    return others
      .filter(({ ended, epoch }) => ended || !owners.has(epoch))
      .map(({ name }) => join(this.directory, name))
      .map((path) => ({ entries: this.read(path), forget: () => rmSync(path, { force: true }) }));
  }

  private printed(operation: Resolution): unknown {
    if (operation.kind === "settle")
      return {
        ...operation,
        settlement: { ...operation.settlement, answer: this.sealed(operation.settlement) },
      };
    return { ...operation, voiding: { ...operation.voiding, answer: this.sealed(operation.voiding) } };
  }

  private sealed({ organizationId, answer }: Settlement | Voiding): string | null {
    if (answer === null) return null;
    return Buffer.from(sealAnswer(this.dataKey, organizationId, answer)).toString("base64");
  }

  private read(path: string): Leftover[] {
    const lines = readFileSync(path, "utf8").split("\n");
    // Text after the last newline was being written when the process ended; no caller was told that it is kept.
    return lines.slice(0, -1).map((line) => ({
      line,
      place: placeIn(line),
      read: () => this.parsed(JSON.parse(line) as Printed),
    }));
  }

  private parsed(printed: Printed): MoneyOperation {
    if (printed.kind === "void") {
      const { voiding } = printed;
      return { ...printed, voiding: { ...voiding, answer: this.opened(voiding) } };
    }
    const { lowered, ...settlement } = printed.settlement;
    return {
      ...printed,
      settlement: {
        ...settlement,
        charge: nanoUsd(BigInt(settlement.charge)),
        variance: nanoUsd(BigInt(settlement.variance)),
        ...(lowered !== undefined && { lowered: { ...lowered, hold: nanoUsd(BigInt(lowered.hold)) } }),
        answer: this.opened(settlement),
      },
    };
  }

  private opened(place: {
    organizationId: string;
    requestId: string;
    answer: string | null;
  }): StoredAnswer | null {
    if (place.answer === null) return null;
    return openAnswer(this.dataKey, place, Buffer.from(place.answer, "base64"));
  }
}

/** Appends all or nothing: a full disk takes only the beginning of a write, and the next line would follow that. */
function appendWhole(file: number, line: string): void {
  const bytes = Buffer.from(line);
  const { size } = fstatSync(file);
  try {
    for (let written = 0; written < bytes.length; ) {
      const more = writeSync(file, bytes, written);
      if (more === 0) throw new Error("nothing more can be written");
      written += more;
    }
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}

/** Parses who wrote a file of this name; empty if it is not one of ours. `ended`: true only if certain. */
function writtenBy(name: string): { name: string; epoch: number; ended: boolean }[] {
  const [, host = HOST, epoch, pid] = NAME.exec(name) ?? [];
  if (epoch === undefined) return [];
  return [{ name, epoch: Number(epoch), ended: host === HOST && !runsBeside(Number(pid)) }];
}

/** Reads the place without trusting the rest of the line. */
function placeIn(line: string): Leftover["place"] {
  const organizationId = /"organizationId":"([A-Za-z0-9_-]{1,60})"/.exec(line)?.[1];
  const requestId = /"requestId":"([A-Za-z0-9_-]{1,60})"/.exec(line)?.[1];
  return organizationId === undefined || requestId === undefined ? null : { organizationId, requestId };
}

type Owned<Kind extends Resolution["kind"]> = Pick<Extract<Resolution, { kind: Kind }>, "kind" | "owner">;
/** A line of the file: money as decimal text, the answer sealed. */
type Printed =
  | (Owned<"settle"> & {
      settlement: Omit<Settlement, "charge" | "variance" | "answer" | "lowered"> & {
        lowered?: { hold: string; promptBound: number };
        charge: string;
        variance: string;
        answer: string | null;
      };
    })
  | (Owned<"void"> & { voiding: Omit<Voiding, "answer"> & { answer: string | null } });

const printBigInt = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? value.toString() : value;

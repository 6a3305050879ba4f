// Reads the current state of keys, before anything of their requests is read. Consecutive requests of one
// turn of the event loop with the same key share one read; nothing is kept for the next turn or past a write.
import { atEndOfTurn } from "../../lib/turn.ts";
import type { KeyRow } from "../rows.ts";
import type { SqliteLoad } from "./load.ts";

interface Seen {
  organizationId: string;
  keyId: string;
  row: KeyRow | undefined;
}

export class KeyReader {
  private seen: Seen | null = null;
  private readonly atEnd = (): void => this.forget();

  constructor(private readonly load: Pick<SqliteLoad, "keyRow">) {}

  /** Returns the key as the last commit left it. Undefined if there is no such key; throws what SQLite throws. */
  read(organizationId: string, keyId: string): KeyRow | undefined {
    const { seen } = this;
    if (seen !== null && seen.organizationId === organizationId && seen.keyId === keyId) return seen.row;
    const row = this.load.keyRow(organizationId, keyId);
    if (seen === null) atEndOfTurn(this.atEnd);
    this.seen = { organizationId, keyId, row };
    return row;
  }

  /** Forgets the last read, because anything written from now on may change it. */
  forget(): void {
    this.seen = null;
  }
}

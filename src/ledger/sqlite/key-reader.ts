// Keys as they are now, before anything of their requests is read. Requests that arrived in one turn of the event loop and show
// the same key, one behind the other, share one look at it; nothing is kept for the next turn, nor past what is written.
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

  /** The key as the last commit left it. Undefined when there is no such key; throws what SQLite throws. */
  read(organizationId: string, keyId: string): KeyRow | undefined {
    const { seen } = this;
    if (seen !== null && seen.organizationId === organizationId && seen.keyId === keyId) return seen.row;
    const row = this.load.keyRow(organizationId, keyId);
    if (seen === null) atEndOfTurn(this.atEnd);
    this.seen = { organizationId, keyId, row };
    return row;
  }

  /** Whatever is written from now on may change what was seen. */
  forget(): void {
    this.seen = null;
  }
}

// Keys as they are now, before anything of their requests is read. Requests that arrived in one turn of the event loop and show
// the same key, one behind the other, share one look at it; nothing is kept for the next turn, nor past what is written.
import type { Database, Statement } from "bun:sqlite";
import { atEndOfTurn } from "../../lib/turn.ts";
import type { Cell } from "../cell.ts";
import { selected } from "../column-loads.ts";
import { LOAD } from "../columns.ts";
import { keyOf } from "../put-rows.ts";
import type { KeyRow } from "../rows.ts";

interface Seen {
  organizationId: string;
  keyId: string;
  row: KeyRow | undefined;
}

export class KeyReader {
  private readonly key: Statement<unknown, [organizationId: string, keyId: string]>;
  private seen: Seen | null = null;
  private readonly atEnd = (): void => this.forget();

  constructor(database: Database) {
    this.key = database.prepare(
      `SELECT ${selected(LOAD.key, "k")} FROM api_key k WHERE k.org_id = ?1 AND k.key_id = ?2`,
    );
  }

  /** The key as the last commit left it. Undefined when there is no such key; throws what SQLite throws. */
  read(organizationId: string, keyId: string): KeyRow | undefined {
    const { seen } = this;
    if (seen !== null && seen.organizationId === organizationId && seen.keyId === keyId) return seen.row;
    const [found] = this.key.values(organizationId, keyId) as Cell[][];
    const row = found === undefined ? undefined : keyOf(found);
    if (seen === null) atEndOfTurn(this.atEnd);
    this.seen = { organizationId, keyId, row };
    return row;
  }

  /** Whatever is written from now on may change what was seen. */
  forget(): void {
    this.seen = null;
  }
}

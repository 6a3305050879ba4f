// Reads the current state of keys, before anything of their requests is read. All reads of one turn of the
// event loop go in one statement, on a separate connection, so that neither a long page nor a batch delays it.
import type { Client } from "pg";
import { overloaded } from "../../domain/overloaded.ts";
import { messageOf } from "../../domain/error-message.ts";
import { atEndOfTurn } from "../../lib/turn.ts";
import { toldAway } from "../../store/postgres-error.ts";
import { text } from "../cell.ts";
import { selected } from "../column-loads.ts";
import { LOAD } from "../columns.ts";
import { keyOf } from "../put-rows.ts";
import { type KeyRow, rowId } from "../rows.ts";
import { askTogether, questionAbout } from "./flight.ts";
import { byRows, parameterRows } from "./query.ts";

const KEYS_NOW = byRows(
  "keys_now",
  (rows) => `SELECT ${selected(LOAD.key, "k")}
   FROM ${parameterRows(rows, "asked", [
     ["org_id", "text"],
     ["key_id", "text"],
   ])}
   JOIN api_key k ON k.org_id = asked.org_id AND k.key_id = asked.key_id`,
);

/** The delay after a failed connection attempt. The next attempt is made whether or not a read is waiting. */
const AWAY_MS = 250;

type Rows = ReadonlyMap<string, KeyRow>;

/** The keys asked for so far in this turn, each once. */
interface Question {
  asked: Map<string, readonly [organizationId: string, keyId: string]>;
  answer: Promise<Rows>;
}

/** One connection that is reopened automatically after a failure; until then every read is refused as `overloaded`. */
export class KeyReader {
  private client: Promise<Client> | null = null;
  private failure: unknown = null;
  private again: ReturnType<typeof setTimeout> | undefined;
  private closed = false;
  private question: Question | null = null;

  constructor(private readonly connect: () => Promise<Client>) {}

  /** Connects, so that the first request need not and a gateway without this connection reports it. */
  async open(): Promise<void> {
    await this.connected().catch(() => {}); // retried until it is there
  }

  /** Why no key can be read; null if one can, as far as is known. */
  get trouble(): string | null {
    return this.failure === null ? null : messageOf(this.failure);
  }

  /** Returns the key, read after this call; undefined if there is none. Throws `Refusal("overloaded")` without a database. */
  async read(organizationId: string, keyId: string): Promise<KeyRow | undefined> {
    const { asked, answer } = (this.question ??= this.begin());
    const id = rowId(organizationId, keyId);
    if (!asked.has(id)) asked.set(id, [organizationId, keyId]);
    return (await answer).get(id);
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.again);
    await (await this.client?.catch(() => null))?.end().catch(() => {}); // it may already be gone
  }

  /** Starts a question that is sent at the end of this turn. */
  private begin(): Question {
    const { promise: answer, resolve, reject } = Promise.withResolvers<Rows>();
    const question: Question = { asked: new Map(), answer };
    atEndOfTurn(() => {
      this.question = null;
      this.ask(question).then(resolve, (error: unknown) => reject(toldAway(error)));
    });
    return question;
  }

  private async ask({ asked }: Question): Promise<Rows> {
    const connection = this.connected();
    const client = await connection;
    try {
      const [answer] = await askTogether(client, [questionAbout(KEYS_NOW, [...asked.values()])]);
      return new Map((answer?.rows ?? []).map((row) => [rowId(text(row[0]), text(row[1])), keyOf(row)]));
    } catch (error) {
      this.forget(connection);
      client.end().catch(() => {}); // most likely already gone
      throw error;
    }
  }

  private connected(): Promise<Client> {
    if (this.client !== null) return this.client;
    if (this.closed || this.again !== undefined) return Promise.reject(overloaded());
    const connection = this.connect();
    this.client = connection;
    connection.then(
      (client) => {
        this.failure = null;
        client.once("end", () => this.forget(connection));
      },
      (error: unknown) => {
        this.failure = error;
        this.forget(connection);
      },
    );
    return connection;
  }

  /** Drops the connection and opens a new one, at once if it was lost. */
  private forget(connection: Promise<Client>): void {
    if (this.client !== connection) return;
    this.client = null;
    if (this.closed) return;
    this.again = setTimeout(() => this.tryAgain(), this.failure === null ? 0 : AWAY_MS);
    this.again.unref();
  }

  private tryAgain(): void {
    this.again = undefined;
    this.connected().catch(() => {}); // recorded where the connection is made
  }
}

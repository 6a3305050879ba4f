// Statements that are sent together and answered together, with one Sync: the server flushes its answers
// once and the gateway wakes once, whatever their number. Each is parsed and described once per connection.
// The first failure ends them all: later statements, above all a COMMIT, do not run (money.md §7).
import pg, { type ClientBase } from "pg";
import type { Cell } from "../cell.ts";
import type { SqlValue } from "../../store/sql.ts";
import { type ByRows, type NamedStatement, transposed } from "./query.ts";

/** A parameter of a statement. */
export type Parameter = SqlValue | undefined | readonly Parameter[];

/** A statement with its values; one without a name is planned each time. */
export interface Question {
  statement: NamedStatement;
  values: readonly Parameter[];
}

/** Builds a question for these rows; `also` holds the parameters after theirs. */
export function questionAbout(
  { one, many }: ByRows,
  rows: readonly (readonly Parameter[])[],
  also: readonly Parameter[] = [],
): Question {
  const [first = []] = rows;
  return rows.length === 1
    ? { statement: one, values: [...first, ...also] }
    : { statement: many, values: [...transposed(rows, first.length), ...also] };
}

/** The answer to one statement of a flight. */
export interface Answer {
  rows: Cell[][];
  /** The command tag: a COMMIT is answered with `COMMIT` or `ROLLBACK`. */
  tag: string;
}

/** Resolves with answers in the order of the questions, or rejects with the first error. Needs pipeline mode. */
export const askTogether = (on: ClientBase, questions: readonly Question[]): Promise<Answer[]> =>
  new Promise((resolve, reject) => {
    on.query(
      new Flight(on, questions, (error, answers) => (error === null ? resolve(answers) : reject(error))),
    );
  });

type Reader = (cell: string) => Cell;
/** The cell readers of each connection's prepared statements. */
const PREPARED = new WeakMap<ClientBase, Map<string, readonly Reader[]>>();

function preparedOn(client: ClientBase): Map<string, readonly Reader[]> {
  const known = PREPARED.get(client) ?? new Map<string, readonly Reader[]>();
  PREPARED.set(client, known);
  return known;
}

/** The part of the driver's connection that is used here. */
interface Wire {
  stream: { cork(): void; uncork(): void };
  close(of: { type: "S"; name: string }): void;
  parse(statement: NamedStatement): void;
  bind(to: { statement: string; values: readonly (string | Buffer | null)[] }): void;
  describe(portal: { type: "P" }): void;
  execute(portal: object): void;
  sync(): void;
}

type Told = (error: unknown, answers: Answer[]) => void;

/** Handles the driver's callbacks for one query on behalf of several statements. */
class Flight extends pg.Query {
  private readonly prepared: Map<string, readonly Reader[]>;
  private readonly answers: Answer[] = [];
  private found: Cell[][] = [];
  /** Printed before anything is sent: a value that cannot be printed must not leave half a flight on the wire. */
  private readonly printed: (string | Buffer | null)[][];
  private readonly preparing = new Map<string, readonly Reader[]>();

  constructor(
    private readonly client: ClientBase,
    private readonly questions: readonly Question[],
    readonly callback: Told,
  ) {
    super("");
    this.prepared = preparedOn(client);
    this.printed = questions.map(({ values }) => values.map(printed));
  }

  override submit = (connection: pg.Connection): void => {
    const wire = connection as unknown as Wire;
    wire.stream.cork();
    for (const [index, { statement }] of this.questions.entries()) {
      const { name } = statement;
      const known = this.prepared.has(name) || (name !== "" && this.preparing.has(name));
      if (!known) {
        this.preparing.set(name, []);
        wire.close({ type: "S", name }); // a failed flight may have left it behind
        wire.parse(statement);
      }
      wire.bind({ statement: name, values: this.printed[index] ?? [] });
      if (!known) wire.describe({ type: "P" });
      wire.execute({});
    }
    wire.sync();
    wire.stream.uncork();
  };

  /** The statement being answered. */
  private get current(): string {
    return this.questions[this.answers.length]?.statement.name ?? "";
  }

  handleRowDescription({ fields }: { fields: { dataTypeID: number }[] }): void {
    const readers = fields.map(({ dataTypeID }) => this.client.getTypeParser(dataTypeID, "text") as Reader);
    this.preparing.set(this.current, readers);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const readers = this.preparing.get(this.current) ?? this.prepared.get(this.current) ?? [];
    this.found.push(fields.map((cell, index) => (cell === null ? null : (readers[index]?.(cell) ?? cell))));
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.answers.push({ rows: this.found, tag: text });
    this.found = [];
  }

  handleReadyForQuery(): void {
    for (const [name, readers] of this.preparing) if (name !== "") this.prepared.set(name, readers);
    this.callback(null, this.answers);
  }

  handleError(error: unknown): void {
    this.callback(error, []);
  }
}

/** Prints a parameter in PostgreSQL's text format; bytes are sent as they are. */
function printed(value: Parameter): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return `{${value.map(element).join(",")}}`;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return String(value);
}

function element(value: Parameter): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "string") return quoted(value);
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString("hex")}"`;
  return String(value);
}

/** Few texts need escaping, and checking costs less than replacing. */
function quoted(text: string): string {
  if (!text.includes('"') && !text.includes("\\")) return `"${text}"`;
  return `"${text.replaceAll("\\", String.raw`\\`).replaceAll('"', String.raw`\"`)}"`;
}

// Statements that leave together and are answered together, behind one Sync: the server flushes its answers once and the
// gateway wakes for them once, whatever their number. Each is planned and described once per connection. The first that
// fails ends them all: what stands behind it, a COMMIT above all, is not run (money.md §7).
import pg, { type ClientBase } from "pg";
import type { Cell } from "../cell.ts";
import type { SqlValue } from "../../store/sql.ts";
import { type ByRows, type NamedStatement, transposed } from "./query.ts";

/** What a statement takes. */
export type Parameter = SqlValue | undefined | readonly Parameter[];

/** A statement with its values; one without a name is planned each time. */
export interface Question {
  statement: NamedStatement;
  values: readonly Parameter[];
}

/** Asks for these rows, or with them; `also`: the parameters behind theirs. */
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
  /** The command's tag, `COMMIT` or `ROLLBACK` of a COMMIT. */
  tag: string;
}

/** Answers in the order of the questions, or the error of the first that failed. Needs a connection in pipeline mode. */
export const askTogether = (on: ClientBase, questions: readonly Question[]): Promise<Answer[]> =>
  new Promise((resolve, reject) => {
    on.query(
      new Flight(on, questions, (error, answers) => (error === null ? resolve(answers) : reject(error))),
    );
  });

type Reader = (cell: string) => Cell;
/** How the cells of a connection's prepared statements are read. */
const PREPARED = new WeakMap<ClientBase, Map<string, readonly Reader[]>>();

function preparedOn(client: ClientBase): Map<string, readonly Reader[]> {
  const known = PREPARED.get(client) ?? new Map<string, readonly Reader[]>();
  PREPARED.set(client, known);
  return known;
}

/** The driver's connection, as far as it is used here. */
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

/** What the driver tells a query of its own, told of several. */
class Flight extends pg.Query {
  private readonly prepared: Map<string, readonly Reader[]>;
  private readonly answers: Answer[] = [];
  private found: Cell[][] = [];
  /** Printed before anything is sent: what cannot be printed must not leave half a flight on the wire. */
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
        wire.close({ type: "S", name }); // left by a flight that failed, perhaps
        wire.parse(statement);
      }
      wire.bind({ statement: name, values: this.printed[index] ?? [] });
      if (!known) wire.describe({ type: "P" });
      wire.execute({});
    }
    wire.sync();
    wire.stream.uncork();
  };

  /** The statement that is being answered. */
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

/** A parameter in PostgreSQL's text; bytes travel as they are. */
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

/** Few texts hold what must be escaped, and to look costs less than to replace. */
function quoted(text: string): string {
  if (!text.includes('"') && !text.includes("\\")) return `"${text}"`;
  return `"${text.replaceAll("\\", String.raw`\\`).replaceAll('"', String.raw`\"`)}"`;
}

// What somebody changes of people and its line of the audit log are one transaction, whoever writes: our own statements, or the
// sign-in library in the middle of a call (docs/decisions/0087-lines-about-people-are-one-with-their-change.md). It begins at the first write,
// behind every password that is hashed and every company that is asked, since one runs at a time.
import { AsyncLocalStorage } from "node:async_hooks";

export interface Ran {
  rows: Record<string, unknown>[];
  /** Of a statement that returns no rows. */
  changes: number;
}

export interface Transaction {
  run(text: string, values: readonly unknown[]): Promise<Ran>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** How a store runs statements. */
export interface Connections {
  /** A statement by itself; `own`: the transaction of whoever asks, should it begin while this waits for another one. */
  once(text: string, values: readonly unknown[], own: () => Promise<Transaction> | null): Promise<Ran>;
  /** One at a time, in the whole store. */
  begin(): Promise<Transaction>;
}

/** One change: its transaction, once something is written. */
class Change {
  private beginning: Promise<Transaction> | null = null;
  /** Of the library alone, before anything else is written: what it verifies is spent, whatever comes of the change. */
  apart: Transaction | null = null;
  private over = false;
  /** Why it could not begin: the library makes a failure of its own of it. */
  private failure: unknown = null;

  constructor(private readonly on: Connections) {}

  get isOver(): boolean {
    return this.over;
  }

  get begun(): Promise<Transaction> | null {
    return this.apart === null ? this.beginning : Promise.resolve(this.apart);
  }

  begin(): Promise<Transaction> {
    return this.begun ?? (this.beginning = this.opened());
  }

  /** What is to be told of a change that failed. */
  causeOf(error: unknown): unknown {
    return this.failure ?? error;
  }

  private async opened(): Promise<Transaction> {
    try {
      return await this.on.begin();
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }

  async end(how: "commit" | "rollback"): Promise<void> {
    this.over = true;
    const begun = await this.beginning?.catch(() => null); // whoever wrote was told
    await begun?.[how]();
  }
}

export class PeopleTransactions {
  private readonly changes = new AsyncLocalStorage<Change>();
  private savepoints = 0;

  constructor(private readonly on: Connections) {}

  /** All that `work` writes comes together or, when it throws, not at all; inside of another one it is a part of that. */
  async together<T>(work: () => Promise<T>): Promise<T> {
    if (this.current !== null) return await work();
    const change = new Change(this.on);
    let result: T;
    try {
      result = await this.changes.run(change, work);
    } catch (error) {
      await change.end("rollback").catch(() => {}); // the connection is gone with its transaction
      throw change.causeOf(error);
    }
    await change.end("commit");
    return result;
  }

  /** Inside of a change that has not ended. */
  get isInside(): boolean {
    return this.current !== null;
  }

  /** From here on, inside of `together`, what is read stays as it is: no other change runs until this one ends. */
  async begin(): Promise<void> {
    await this.current?.begin();
  }

  async read(text: string, values: readonly unknown[]): Promise<Ran> {
    const change = this.current;
    const begun = change?.begun ?? null;
    if (begun !== null) return await (await begun).run(text, values);
    return await this.on.once(text, values, () => change?.begun ?? null);
  }

  async write(text: string, values: readonly unknown[]): Promise<Ran> {
    const change = this.current;
    if (change === null) return await this.on.once(text, values, () => null);
    return await (await change.begin()).run(text, values);
  }

  /**
   * A transaction of the library: a part of the change that runs. `spends`: it begins with what the library verifies; before
   * anything else is written that is a transaction by itself, since a company may be asked behind it.
   */
  async nested(spends: boolean): Promise<Transaction> {
    const change = this.current;
    if (change === null) return await this.on.begin();
    if (spends && change.begun === null) return await this.apart(change);
    const outer = await change.begin();
    const savepoint = `nested_${++this.savepoints}`;
    await outer.run(`SAVEPOINT ${savepoint}`, []);
    return {
      run: (text, values) => outer.run(text, values),
      commit: async () => void (await outer.run(`RELEASE ${savepoint}`, [])),
      rollback: async () => {
        await outer.run(`ROLLBACK TO ${savepoint}`, []);
        await outer.run(`RELEASE ${savepoint}`, []);
      },
    };
  }

  private async apart(change: Change): Promise<Transaction> {
    const own = await this.on.begin();
    change.apart = own;
    const ended = (end: () => Promise<void>) => async (): Promise<void> => {
      change.apart = null;
      await end();
    };
    return {
      run: (text, values) => own.run(text, values),
      commit: ended(() => own.commit()),
      rollback: ended(() => own.rollback()),
    };
  }

  private get current(): Change | null {
    const change = this.changes.getStore();
    return change === undefined || change.isOver ? null : change;
  }
}

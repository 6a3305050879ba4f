// A change of people and its audit line form one transaction, whether our own statements write or the sign-in
// library does in the middle of a call (docs/decisions/0087-lines-about-people-are-one-with-their-change.md).
// It begins at the first write, after any password is hashed and any company is asked, because only one runs
// at a time.
import { AsyncLocalStorage } from "node:async_hooks";

export interface Ran {
  rows: Record<string, unknown>[];
  /** For a statement that returns no rows. */
  changes: number;
}

export interface Transaction {
  run(text: string, values: readonly unknown[]): Promise<Ran>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** How a store runs statements. */
export interface Connections {
  /**
   * Runs a single statement; `own` is the caller's transaction, in case it begins while this statement waits
   * for another one.
   */
  once(text: string, values: readonly unknown[], own: () => Promise<Transaction> | null): Promise<Ran>;
  /** One at a time in the whole store. */
  begin(): Promise<Transaction>;
}

/** One change: its transaction begins with the first write. */
class Change {
  private beginning: Promise<Transaction> | null = null;
  /**
   * A transaction of the library before anything else is written: verifications are consumed, whatever the
   * outcome of the change.
   */
  apart: Transaction | null = null;
  private over = false;
  /** Why it could not begin; the library would turn it into an error of its own. */
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

  /** The error to report for a failed change. */
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
    const begun = await this.beginning?.catch(() => null); // the writer has received the error
    await begun?.[how]();
  }
}

export class PeopleTransactions {
  private readonly changes = new AsyncLocalStorage<Change>();
  private savepoints = 0;

  constructor(private readonly on: Connections) {}

  /**
   * Everything that `work` writes is committed together or, if it throws, not at all; inside another change
   * it becomes part of it.
   */
  async together<T>(work: () => Promise<T>): Promise<T> {
    if (this.current !== null) return await work();
    const change = new Change(this.on);
    let result: T;
    try {
      result = await this.changes.run(change, work);
    } catch (error) {
      await change.end("rollback").catch(() => {}); // a lost connection has already ended its transaction
      throw change.causeOf(error);
    }
    await change.end("commit");
    return result;
  }

  /** True inside a change that has not ended. */
  get isInside(): boolean {
    return this.current !== null;
  }

  /** Inside `together`, makes reads stable from here on: no other change runs until this one ends. */
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
   * Begins a transaction of the library as part of the current change. `spends`: it begins by using up a verification.
   * As long as nothing else has been written, that is a separate transaction, because a company's sign-in service may
   * be asked afterwards.
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

// A WHERE clause from the filters that were set, with bound parameters only (hardening.md S5).
import type { SqlValue } from "../../store/sql.ts";

export class Conditions {
  private readonly parts: string[] = [];
  readonly values: SqlValue[] = [];

  /** `?` in the text stands for the value; skipped when it is undefined. */
  and(text: string, value: SqlValue | undefined): this {
    if (value === undefined) return this;
    this.parts.push(text.replaceAll("?", this.bind(value)));
    return this;
  }

  /** A condition without a value. */
  also(text: string): this {
    this.parts.push(text);
    return this;
  }

  /** Binds a value outside the clause; returns its placeholder. */
  bind(value: SqlValue): string {
    this.values.push(value);
    return `?${this.values.length}`;
  }

  get where(): string {
    return this.parts.length === 0 ? "" : `WHERE ${this.parts.join(" AND ")}`;
  }
}

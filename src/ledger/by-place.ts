// A cache, for one batch, of values that are looked up per organization, key and model by each request.
import type { RatePlace } from "../domain/rate-limits.ts";
import { rowId } from "./rows.ts";

/** Consecutive lookups are often for the same place: comparing three strings costs a fraction of building and finding an id. */
export class ByPlace<Value> {
  private known: Map<string, Value> | null = null;
  private last: (RatePlace & { value: Value }) | null = null;

  /** Returns the cached value for the place, or calls `find` and caches its result. */
  get({ organizationId, keyId, model }: RatePlace, find: () => Value): Value {
    const { last } = this;
    if (
      last !== null &&
      last.organizationId === organizationId &&
      last.keyId === keyId &&
      last.model === model
    )
      return last.value;
    const id = rowId(organizationId, keyId, model);
    this.known ??= new Map();
    let value = this.known.get(id);
    if (value === undefined) {
      value = find();
      this.known.set(id, value);
    }
    this.last = { organizationId, keyId, model, value };
    return value;
  }

  forget(): void {
    this.known = null;
    this.last = null;
  }
}

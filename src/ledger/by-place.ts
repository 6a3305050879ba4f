// What is found once in a batch for an organization, a key and a model, and is asked for by each of its requests.
import type { RatePlace } from "../domain/rate-limits.ts";
import { rowId } from "./rows.ts";

/** Neighbours are often of one place: to compare three strings takes a fraction of what making and finding an id does. */
export class ByPlace<Value> {
  private known: Map<string, Value> | null = null;
  private last: (RatePlace & { value: Value }) | null = null;

  /** What was found for the place, or what `find` finds now. */
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

// Collections for objects under way that come and go by the thousand. They replace `Set` and `Map` because,
// whenever the runtime's table is full, it allocates a new one and keeps the old one, with its entries and a
// link to the new one, for iterators still using it. An old-generation table keeps the next one alive until
// the next full collection, that one the next, and each its entries: with 64 requests at a time, all 25,000
// of half a minute (docs/design/performance.md §5).

/** Belongs to one roster at a time. */
export interface Member {
  /** The position in the roster, written only by the roster; −1 before and after. */
  rosterPlace: number;
}

/** An unordered set of members. */
export class Roster<T extends Member> {
  private readonly members: T[] = [];

  get size(): number {
    return this.members.length;
  }

  has(member: T): boolean {
    return this.members[member.rosterPlace] === member;
  }

  add(member: T): void {
    if (!this.has(member)) member.rosterPlace = this.members.push(member) - 1;
  }

  /** False if it is not a member. */
  delete(member: T): boolean {
    if (!this.has(member)) return false;
    const last = this.members.pop();
    if (last !== undefined && last !== member) {
      this.members[member.rosterPlace] = last;
      last.rosterPlace = member.rosterPlace;
    }
    member.rosterPlace = -1;
    return true;
  }

  /** A snapshot, unaffected by later changes. */
  all(): T[] {
    return [...this.members];
  }
}

/** A map by id that keeps no reference to removed values. */
export class Register<Id extends string | number, T extends object> {
  private readonly places = new Map<Id, { held: T | null }>();

  get size(): number {
    return this.places.size;
  }

  has(id: Id): boolean {
    return this.places.has(id);
  }

  get(id: Id): T | undefined {
    return this.places.get(id)?.held ?? undefined;
  }

  set(id: Id, held: T): void {
    this.take(id);
    this.places.set(id, { held });
  }

  /** Removes and returns the value; undefined if there is none. */
  take(id: Id): T | undefined {
    const place = this.places.get(id);
    if (place === undefined) return undefined;
    const { held } = place;
    place.held = null;
    this.places.delete(id);
    return held ?? undefined;
  }

  /** Removes and returns all values. */
  takeAll(): T[] {
    return [...this.places.keys()].flatMap((id) => this.take(id) ?? []);
  }
}

// What is under way, where things come and go by the thousand. Not a `Set` or a `Map` of them: whenever its table is full, the
// runtime's makes a new one, and leaves the old one, with what stood in it and the way to the new one, to whoever still
// iterates over it. A table that has grown old keeps the next one alive until the next whole collection, that one the next,
// and each what stood in it: of 64 requests at a time, all 25,000 of half a minute (docs/design/performance.md §5).

/** Stands in one roster at a time. */
export interface Member {
  /** Where it stands there, the roster's to write; −1 before and after. */
  rosterPlace: number;
}

/** A set of members, in no order. */
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

  /** False where it is not in it. */
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

  /** Those of now, whoever comes or goes meanwhile. */
  all(): T[] {
    return [...this.members];
  }
}

/** By their id: what was taken out is held by nothing of it any more. */
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

  /** What stood there; undefined where nothing did. */
  take(id: Id): T | undefined {
    const place = this.places.get(id);
    if (place === undefined) return undefined;
    const { held } = place;
    place.held = null;
    this.places.delete(id);
    return held ?? undefined;
  }

  /** All that stood in it, which nothing does from now on. */
  takeAll(): T[] {
    return [...this.places.keys()].flatMap((id) => this.take(id) ?? []);
  }
}

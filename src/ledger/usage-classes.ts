// The token classes of a request in their single column: JSON of those present, in a fixed order, so that equal
// usage gives equal text; NULL for none, which is most requests (docs/decisions/0043-classes-of-tokens.md).
import { COUNTED_CLASSES, type KnownClasses, serviceTierOf } from "../domain/token-classes.ts";

/** Throws for an invalid class: it must not be kept as evidence. */
export function printClasses(usage: KnownClasses): string | null {
  return hasClasses(usage) ? JSON.stringify(pick(usage)) : null;
}

function hasClasses(usage: KnownClasses): boolean {
  for (const name of COUNTED_CLASSES) if (usage[name] !== undefined) return true;
  return usage.serviceTier !== undefined;
}

/** Throws for text that `printClasses` never printed; leaves out classes of newer programs. */
export function classesIn(printed: string | null): KnownClasses {
  if (printed === null) return {};
  const parsed: unknown = JSON.parse(printed);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    throw new Error("its token classes are not an object");
  return pick(parsed);
}

/** Returns null for text that `printClasses` never printed. */
export function legibleClasses(printed: string | null): KnownClasses | null {
  try {
    return classesIn(printed);
  } catch {
    return null;
  }
}

function pick(from: KnownClasses): KnownClasses {
  const classes: KnownClasses = {};
  for (const name of COUNTED_CLASSES) {
    const count = from[name];
    if (count === undefined) continue;
    if (!Number.isSafeInteger(count) || count < 0) throw new Error(`${name} is not a count: ${count}`);
    classes[name] = count;
  }
  const { serviceTier } = from;
  if (serviceTier === undefined) return classes;
  if (serviceTierOf(serviceTier) !== serviceTier) throw new Error("the service tier is not a word");
  return { ...classes, serviceTier };
}

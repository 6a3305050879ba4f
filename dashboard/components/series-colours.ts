// One colour per name, the same on every page and for every time range: distinguishable by lightness too, never red
// against green.
const COLOURS = [
  "indigo.6",
  "cyan.5",
  "grape.5",
  "yellow.5",
  "indigo.3",
  "pink.5",
  "cyan.8",
  "grape.3",
] as const;
const REST = "gray.5";

/** Assigned by name; if two names get the same colour, the alphabetically later one takes the next free colour. */
export function coloursOf(names: readonly string[], rest?: string): string[] {
  const taken = new Map<number, string>();
  const chosen = new Map<string, string>();
  for (const name of [...names].sort()) {
    if (name === rest) continue;
    let place = placeOf(name);
    for (let tries = 0; taken.has(place) && tries < COLOURS.length; tries++)
      place = (place + 1) % COLOURS.length;
    taken.set(place, name);
    chosen.set(name, COLOURS[place] ?? REST);
  }
  return names.map((name) => chosen.get(name) ?? REST);
}

/** FNV-1a: gives names that differ by one letter different values. */
function placeOf(name: string): number {
  let hash = 0x811c_9dc5;
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x0100_0193) >>> 0;
  return hash % COLOURS.length;
}

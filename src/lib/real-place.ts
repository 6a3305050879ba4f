// Where a file of the operator's is that may be a symbolic link, also while the file itself is missing: what replaces it
// goes there, and the link stays.
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** As many as the system follows. */
const LINKS = 40;

/** Returns the path itself unless it is a link; of a link, where it ends. A link in a circle is returned as it is. */
export function realPlace(path: string): string {
  let place = path;
  for (let followed = 0; followed < LINKS; followed += 1) {
    if (!isLink(place)) return place;
    const folder = dirname(place);
    place = resolve(existsSync(folder) ? realpathSync(folder) : folder, readlinkSync(place));
  }
  return path;
}

/** False where nobody can look: whoever opens the file reports why. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

// Which program the tests start as a process. `npm test` builds the single executable once, for all of them: it starts with
// half of the processor time that the sources take, and is what operators run. A file that is run by itself runs the sources.
import { join } from "node:path";

/** From the sources, as `./tollgate` in a checkout. */
export const SOURCES = join(import.meta.dir, "../../tollgate");

/** Named by `scripts/test.ts`. */
export const PROGRAM = process.env["TOLLGATE_TEST_PROGRAM"] ?? SOURCES;

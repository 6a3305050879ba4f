// Preloaded into a gateway whose garbage is counted, with its collector off: on SIGUSR2 it writes the number of
// objects of each type to the file that `OBJECT_COUNTS` names, atomically.
import { heapStats } from "bun:jsc";
import { renameSync, writeFileSync } from "node:fs";

const file = process.env["OBJECT_COUNTS"];
if (file === undefined) throw new Error("OBJECT_COUNTS names no file");
process.on("SIGUSR2", () => {
  writeFileSync(`${file}.new`, JSON.stringify(heapStats().objectTypeCounts));
  renameSync(`${file}.new`, file);
});

// Loaded before a gateway whose garbage is counted, with its collector off: at SIGUSR2 it writes how many objects of each
// type there are to the file that `OBJECT_COUNTS` names, whole or not at all.
import { heapStats } from "bun:jsc";
import { renameSync, writeFileSync } from "node:fs";

const file = process.env["OBJECT_COUNTS"];
if (file === undefined) throw new Error("OBJECT_COUNTS names no file");
process.on("SIGUSR2", () => {
  writeFileSync(`${file}.new`, JSON.stringify(heapStats().objectTypeCounts));
  renameSync(`${file}.new`, file);
});

// `npm run check`: types, lint (type-aware), the floor plan, citations in comments, names with one meaning, unused
// code, format. Prints the failed steps and exits non-zero.
import { spawnSync } from "node:child_process";

const bun = process.execPath;
const bin = (tool: string): string[] => ["--bun", `node_modules/.bin/${tool}`];

const steps: { name: string; args: string[] }[] = [
  { name: "types", args: [...bin("tsc"), "-p", "tsconfig.json"] },
  { name: "dashboard types", args: [...bin("tsc"), "-p", "dashboard/tsconfig.json"] },
  {
    name: "lint",
    args: [
      ...bin("oxlint"),
      "--type-aware",
      "--deny-warnings",
      "src",
      "cli",
      "bench",
      "torture",
      "dashboard",
      "test",
      "scripts",
    ],
  },
  { name: "floors", args: ["scripts/floors.ts"] },
  { name: "citations", args: ["scripts/citations.ts"] },
  { name: "names", args: ["scripts/names.ts"] },
  { name: "unused", args: bin("knip") },
  { name: "format", args: [...bin("biome"), "format", "."] },
];

const failed = steps.filter(({ name, args }) => {
  const startedAt = performance.now();
  const result = spawnSync(bun, args, { stdio: "inherit" });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${result.status === 0 ? "ok  " : "FAIL"} ${name} (${seconds} s)`);
  return result.status !== 0;
});
process.exit(failed.length === 0 ? 0 : 1);

// `npm test`: runs every test file under Bun and ends with the line "N passed, N failed". Most tests wait more than they
// work, for processes, databases and browsers, so two files run at a time. With arguments: those files alone.
import { spawn } from "node:child_process";

/** Far beyond what any test takes alone: on a machine with other work the slowest take their time, and are not wrong. */
const STUCK_MS = 120_000;

const child = spawn(
  process.execPath,
  ["test", "--parallel=2", "--timeout", String(STUCK_MS), ...process.argv.slice(2)],
  {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "65336" },
  },
);
let output = "";
for (const stream of [child.stdout, child.stderr]) {
  stream.on("data", (bytes: Buffer) => {
    output += bytes.toString();
    process.stderr.write(bytes);
  });
}
const code = await new Promise<number>((resolve) => child.on("close", (status) => resolve(status ?? 1)));
const count = (word: string): number =>
  Number(output.match(new RegExp(`^\\s*(\\d+) ${word}$`, "m"))?.[1] ?? 0);
const [passed, failed] = [count("pass"), count("fail")];
console.log(`${passed} passed, ${failed} failed`);
process.exit(code === 0 && passed > 0 ? 0 : 1);

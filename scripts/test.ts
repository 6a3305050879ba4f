// `npm test`: runs every test file under Bun and ends with the line "N passed, N failed". Browser tests wait more than
// they work, so their files run two at a time; all others have the machine for themselves. With arguments: those alone.
import { spawn } from "node:child_process";

const FILES = [...new Bun.Glob("{src,cli,bench,torture,scripts,test}/**/*.test.ts").scanSync(".")]
  .toSorted()
  .map((path) => `./${path}`);
const inBrowser = (path: string): boolean => path.startsWith("./test/browser/");

interface Ran {
  code: number;
  passed: number;
  failed: number;
}

async function run(...args: string[]): Promise<Ran> {
  const child = spawn(process.execPath, ["test", "--timeout", "30000", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "65336" },
  });
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
  return { code, passed: count("pass"), failed: count("fail") };
}

const asked = process.argv.slice(2);
const runs =
  asked.length > 0
    ? [await run(...asked)]
    : [
        await run(...FILES.filter((path) => !inBrowser(path))),
        await run("--parallel=2", ...FILES.filter(inBrowser)),
      ];
const sum = (of: "passed" | "failed"): number => runs.reduce((total, one) => total + one[of], 0);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
process.exit(runs.every(({ code, passed }) => code === 0 && passed > 0) ? 0 : 1);

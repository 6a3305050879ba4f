// Where the time of a request goes in the gateway's main thread, including the runtime and the kernel: `perf` samples
// its stacks, the compiler's dump names our functions in them, and each sample is attributed to the innermost of
// these. Bun's own profiler counts our functions only. `./tollgate-bun bench/native-profile.ts [--sse] [--whole]
// [--warm-up 40000] [--seconds 8]`; --whole includes its ledger.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { JitDump } from "./jit-dump.ts";
import { closedLoop } from "./load.ts";
import { startUpstream } from "./peers.ts";
import { pinGenerator, stopAll } from "./processes.ts";
import { chatBody, chatRequest } from "./request.ts";
import { startTollgate } from "./tollgate-peer.ts";

const HZ = 2500;
const MICROS_PER_SAMPLE = 1e6 / HZ;
/** The number of requests after which everything they run through is compiled. */
const WARM_UP = { json: "40000", sse: "2000" };
const TOP = 50;
const LEAST_MICROS = 0.1;

/** The compiler's glue code between two functions, or between a function and the runtime. */
const GLUE = /^(?:Thunk|\w+Thunk|InlineCache|\w*OSRE\w+):/;
const NOBODY = "(none of ours: sockets, HTTP, the queue of promises, the collector)";

interface Share {
  micros: number;
  /** The part of it in its own compiled code; the rest is the runtime and the kernel on its behalf. */
  own: number;
  kernel: number;
}

/** Reads one sample as perf prints it: a line with thread and time, then frames, the innermost first. */
function read(sample: string, dump: JitDump): { name: string; own: boolean; kernel: boolean } | null {
  const [head = "", ...frames] = sample.split("\n").filter((line) => line.trim() !== "");
  const [, seconds, nanos] = /(\d+)\.(\d{9}):/.exec(head) ?? [];
  if (seconds === undefined || nanos === undefined) return null;
  const atNs = BigInt(seconds) * 1_000_000_000n + BigInt(nanos);
  const kernel = (frames[0] ?? "").includes("[kernel");
  for (const [depth, frame] of frames.entries()) {
    const [, address, place = ""] = /^\s*([0-9a-f]+) .*\(([^)]*)\)/.exec(frame) ?? [];
    if (address === undefined || /\/bun$|kernel|\.so|vdso/.test(place)) continue;
    const name = dump.nameAt(BigInt(`0x${address}`), atNs);
    if (name !== null && !GLUE.test(name)) return { name, own: depth === 0, kernel };
  }
  return { name: NOBODY, own: false, kernel };
}

async function sampled(file: string, pid: number, dump: JitDump): Promise<Map<string, Share>> {
  const script = [
    "perf",
    "script",
    "-i",
    file,
    "--tid",
    String(pid),
    "-F",
    "comm,tid,time,ip,sym,dso",
    "--ns",
  ];
  const printed = Bun.spawn(script, { stdout: "pipe", stderr: "ignore" });
  const shares = new Map<string, Share>();
  for (const sample of (await new Response(printed.stdout).text()).split("\n\n")) {
    const spent = read(sample, dump);
    if (spent === null) continue;
    const share = shares.get(spent.name) ?? { micros: 0, own: 0, kernel: 0 };
    share.micros += MICROS_PER_SAMPLE;
    if (spent.own) share.own += MICROS_PER_SAMPLE;
    if (spent.kernel) share.kernel += MICROS_PER_SAMPLE;
    shares.set(spent.name, share);
  }
  return shares;
}

function print(shares: Map<string, Share>, requests: number): void {
  const rows = [...shares].toSorted(([, a], [, b]) => b.micros - a.micros).slice(0, TOP);
  const all = [...shares.values()].reduce((sum, { micros }) => sum + micros, 0);
  console.log(`${requests} requests, ${(all / requests).toFixed(1)} µs of the main thread each`);
  console.log("    µs    own  kernel");
  for (const [name, { micros, own, kernel }] of rows)
    if (micros / requests >= LEAST_MICROS)
      console.log(
        [micros, own, kernel].map((each) => (each / requests).toFixed(2).padStart(6)).join(" "),
        name,
      );
}

const { values } = parseArgs({
  options: {
    sse: { type: "boolean", default: false },
    whole: { type: "boolean", default: false },
    seconds: { type: "string", default: "8" },
    "warm-up": { type: "string" },
  },
});
if (Bun.which("perf") === null) {
  console.error("perf is not installed here (package linux-perf or linux-tools)");
  process.exit(1);
}
const scratchDir = mkdtempSync(join(tmpdir(), "tollgate-perf-"));
pinGenerator();
try {
  const { process: gateway, target } = await startTollgate(await startUpstream(), scratchDir, {
    environment: { BUN_JSC_useJITDump: "1", BUN_JSC_jitDumpDirectory: scratchDir },
    ...(values.whole ? {} : { server: "bench/null-ledger.ts" }),
  });
  const request = chatRequest(target, chatBody(values.sse ? "bench-sse-50x5" : "bench-json-1k"));
  const load = { origin: target.origin, request, concurrency: values.sse ? 32 : 64 };
  await closedLoop({ ...load, requests: Number(values["warm-up"] ?? WARM_UP[values.sse ? "sse" : "json"]) });
  const file = join(scratchDir, "perf.data");
  const options = [
    "-k",
    "mono",
    "-e",
    "cpu-clock",
    "-F",
    String(HZ),
    "-g",
    "-p",
    String(gateway.pid),
    "-o",
    file,
  ];
  const perf = Bun.spawn(["perf", "record", ...options], { stdout: "ignore", stderr: "ignore" });
  const { requests } = await closedLoop({ ...load, durationMs: Number(values.seconds) * 1000 });
  perf.kill("SIGINT");
  await perf.exited;
  const dumped = readdirSync(scratchDir).find((name) => name.endsWith(`-${gateway.pid}.dump`));
  if (dumped === undefined) throw new Error("the gateway wrote no dump of its code");
  print(await sampled(file, gateway.pid, new JitDump(join(scratchDir, dumped))), requests);
} finally {
  await stopAll();
  rmSync(scratchDir, { recursive: true, force: true });
}
process.exit(0);

// Where the gateway's time goes: runs the product under Bun's CPU profiler with a load of 64 in flight (JSON, or
// streams with --sse) and prints functions and files by self time. `./tollgate-bun bench/profile.ts [--sse]
// [--seconds 5]`.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { costOf, per1000Requests } from "./cost.ts";
import { root, startUpstream } from "./peers.ts";
import { pinGenerator, stopAll } from "./processes.ts";
import { startTollgate } from "./tollgate-peer.ts";

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
}
interface Profile {
  nodes: ProfileNode[];
  samples: number[];
  timeDeltas: number[];
}

const PROFILE = "tollgate.cpuprofile";
const TOP = 40;

async function record(scratchDir: string): Promise<void> {
  const streams = process.argv.includes("--sse");
  const seconds = Number(process.argv[process.argv.indexOf("--seconds") + 1]) || 5;
  const flags = [
    "--cpu-prof",
    "--cpu-prof-interval=500",
    `--cpu-prof-dir=${scratchDir}`,
    `--cpu-prof-name=${PROFILE}`,
  ];
  const tollgate = await startTollgate(await startUpstream(), scratchDir, { bunFlags: flags });
  const cost = await costOf(tollgate, {
    model: streams ? "bench-sse-50x5" : "bench-json-1k",
    concurrency: streams ? 32 : 64,
    durationMs: seconds * 1000,
    warmUpMs: 500,
  });
  console.log(
    `${cost.load.requests} requests, ${per1000Requests(cost).toFixed(4)} CPU-s per 1,000 (profiler on), ` +
      `${(cost.load.requests / cost.load.seconds).toFixed(0)} per second`,
  );
  await tollgate.process.stop();
}

/** Self time in microseconds by the given name of each sampled node. */
function selfTime(profile: Profile, nameOf: (node: ProfileNode) => string): Map<string, number> {
  const byId = new Map(profile.nodes.map((node) => [node.id, node]));
  const micros = new Map<string, number>();
  for (const [index, id] of profile.samples.entries()) {
    const node = byId.get(id);
    if (node === undefined) continue;
    const name = nameOf(node);
    micros.set(name, (micros.get(name) ?? 0) + (profile.timeDeltas[index] ?? 0));
  }
  return micros;
}

const fileOf = ({ callFrame }: ProfileNode): string =>
  callFrame.url.replace("file://", "").replace(`${root}/`, "").replace(/\?.*$/, "") || "(native)";
const functionOf = (node: ProfileNode): string =>
  `${node.callFrame.functionName || "(anonymous)"}  ${fileOf(node)}:${node.callFrame.lineNumber + 1}`;

function print(title: string, micros: Map<string, number>): void {
  const total = [...micros.values()].reduce((sum, value) => sum + value, 0);
  console.log(`\n${title} (self time, ${(total / 1e6).toFixed(2)} s sampled)`);
  const rows = [...micros].toSorted(([, a], [, b]) => b - a).slice(0, TOP);
  for (const [name, value] of rows)
    console.log(
      `${((value * 100) / total).toFixed(1).padStart(5)} %  ${(value / 1000).toFixed(0).padStart(6)} ms  ${name}`,
    );
}

const scratchDir = mkdtempSync(join(tmpdir(), "tollgate-profile-"));
pinGenerator();
try {
  await record(scratchDir);
  const profile = JSON.parse(readFileSync(join(scratchDir, PROFILE), "utf8")) as Profile;
  print("functions", selfTime(profile, functionOf));
  print("files", selfTime(profile, fileOf));
} finally {
  await stopAll();
  rmSync(scratchDir, { recursive: true, force: true });
}

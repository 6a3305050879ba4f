// CPU time of one process between two moments. Uses the scheduler's nanoseconds per thread if the kernel provides
// them, checked against utime + stime of /proc/PID/stat, which counts in 10 ms steps but includes threads that have
// ended.
import { readFileSync, readdirSync } from "node:fs";
import type { Process } from "./processes.ts";

const DISAGREEMENT_SECONDS = 0.03;

export class CpuMeter {
  readonly #process: Process;
  readonly #statSeconds: number;
  readonly #threads: Map<string, number>;

  constructor(process: Process) {
    this.#process = process;
    this.#statSeconds = process.cpuSeconds();
    this.#threads = threadSeconds(process.pid);
  }

  /** CPU seconds of all threads since the meter was made. */
  seconds(): number {
    const bySteps = this.#process.cpuSeconds() - this.#statSeconds;
    let precise = 0;
    for (const [thread, seconds] of threadSeconds(this.#process.pid))
      precise += seconds - (this.#threads.get(thread) ?? 0);
    return Math.abs(precise - bySteps) > DISAGREEMENT_SECONDS ? bySteps : precise;
  }
}

function threadSeconds(pid: number): Map<string, number> {
  const seconds = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const onCpu = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "latin1").split(" ")[0];
      seconds.set(thread, Number(onCpu) / 1e9);
    } catch {
      continue; // The thread ended between the listing and the reading.
    }
  }
  return seconds;
}

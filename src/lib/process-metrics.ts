// Prom-client's process metrics, without those specific to V8 and libuv: Bun answers a query about heap
// spaces by walking the whole heap, 40 ms at a start and 300 ms with two million objects.
import type { Registry } from "prom-client";
import eventLoopLag from "prom-client/lib/metrics/eventLoopLag";
import heapSizeAndUsed from "prom-client/lib/metrics/heapSizeAndUsed";
import osMemoryHeap from "prom-client/lib/metrics/osMemoryHeap";
import processCpuTotal from "prom-client/lib/metrics/processCpuTotal";
import processMaxFileDescriptors from "prom-client/lib/metrics/processMaxFileDescriptors";
import processOpenFileDescriptors from "prom-client/lib/metrics/processOpenFileDescriptors";
import processStartTime from "prom-client/lib/metrics/processStartTime";
import version from "prom-client/lib/metrics/version";

const TOLD = [
  processCpuTotal,
  processStartTime,
  osMemoryHeap,
  processOpenFileDescriptors,
  processMaxFileDescriptors,
  eventLoopLag,
  heapSizeAndUsed,
  version,
];
/** Milliseconds between two measurements of the event loop lag. */
const PRECISION_MS = 10;

/** Registers `process_*` and `nodejs_*`, read at each scrape. */
export function tellOfProcess(registry: Registry): void {
  for (const register of TOLD) register(registry, { eventLoopMonitoringPrecision: PRECISION_MS });
}

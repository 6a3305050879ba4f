// Preloaded into a gateway (BUN_OPTIONS): what its threads are asked reaches them a second late, as where they are still
// starting or the machine is busy.
const LATE_MS = 1000;
const Thread = globalThis.Worker;

globalThis.Worker = class extends Thread {
  override postMessage(message: unknown): void {
    setTimeout(() => super.postMessage(message), LATE_MS);
  }
};

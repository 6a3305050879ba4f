// Preloaded into a gateway (BUN_OPTIONS): requests to its threads arrive a second late, as if they were still
// starting or the machine were busy.
const LATE_MS = 1000;
const Thread = globalThis.Worker;

globalThis.Worker = class extends Thread {
  override postMessage(message: unknown): void {
    setTimeout(() => super.postMessage(message), LATE_MS);
  }
};

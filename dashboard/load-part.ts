// Loads parts of the dashboard on demand: pages, charts, the palette.
import { AGAIN_MS, nextAnswer, noteAnswer } from "./api/reachable.ts";
import { askAgain } from "./api/session.ts";
import { comeAnew } from "./come-anew.ts";

/**
 * If a part's code cannot be loaded, the screen stays as it is and the load is retried once the gateway answers. If the
 * gateway then has no such file, the page belongs to another version and is reloaded.
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch {
    noteAnswer(false);
    await answered();
  }
  try {
    return await load();
  } catch (error) {
    if (comeAnew()) return await new Promise<never>(() => {}); // keep the screen until the reload
    throw error;
  }
}

/** Checks repeatedly until the gateway answers: while the page starts, nothing else does. */
async function answered(): Promise<void> {
  const timer = setInterval(() => void askAgain(), AGAIN_MS);
  void askAgain();
  await nextAnswer();
  clearInterval(timer);
}

// Parts of the dashboard that are loaded when they are needed: pages, charts, the palette.
import { nextAnswer, noteAnswer } from "./api/reachable.ts";
import { comeAnew } from "./come-anew.ts";

/**
 * A part whose code does not come leaves on the screen what is there, and is fetched again once the gateway answers. Where it then
 * has no such file the page is of another version, and comes anew.
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch {
    noteAnswer(false);
    await nextAnswer();
  }
  try {
    return await load();
  } catch (error) {
    if (comeAnew()) return await new Promise<never>(() => {}); // what is there stays until then
    throw error;
  }
}

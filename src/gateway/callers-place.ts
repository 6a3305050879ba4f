// Where in a caller's own body a provider found something wrong, when that body went to it as it was written (wire.md §8.3).
import { isJsonObject, type JsonObject } from "../domain/read-value.ts";

/**
 * The place that a provider names, as a path of this body, as deep as the body goes: `messages.0.content.1.image.source` and
 * `input[0].content` alike. Words between the steps that say what kind of thing stands there are left out; of what is missing
 * the last step is kept. "" where it does not begin in the body.
 */
export function placeIn(body: JsonObject, path: string): string {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== "");
  let place = "";
  let at: unknown = body;
  for (const [n, step] of steps.entries()) {
    if (Array.isArray(at)) {
      if (!/^\d{1,4}$/.test(step) || Number(step) >= at.length) break;
      place += `[${step}]`;
      at = at[Number(step)];
      continue;
    }
    if (!isJsonObject(at)) break;
    if (!Object.hasOwn(at, step)) {
      const next = steps[n + 1];
      if (at["type"] === step || (next !== undefined && Object.hasOwn(at, next))) continue;
      return place === "" || next !== undefined ? place : `${place}.${step}`;
    }
    place += place === "" ? step : `.${step}`;
    at = at[step];
  }
  return place;
}

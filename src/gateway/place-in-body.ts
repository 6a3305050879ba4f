// Where in a caller's own body a provider found something wrong, if that body was sent as written (wire.md §8.3).
import { isJsonObject, type JsonObject } from "../domain/read-value.ts";

/**
 * The place that a provider names, as a path of this body, as deep as the body goes: accepts `messages.0.content.1.image.source`
 * and `input[0].content`. Words between the steps that name the kind of a value are left out; of what is missing the last step is
 * kept. "" if the path does not begin in the body.
 */
export function placeInBody(body: JsonObject, path: string): string {
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

// GET /v1/models in the form of Anthropic's clients, which send `anthropic-version`: the models that answer messages, newest first,
// in pages. Windows and dates only; prices and routes are in OpenAI's form of the same list.
import { printTime } from "../domain/print.ts";
import type { Release } from "../domain/release.ts";
import { clip, invalid, refuse, requireRange } from "../domain/read-value.ts";

/** A model with the release that is tried first. */
export interface OfferedModel {
  model: string;
  createdAtMs: number;
  release: Pick<Release, "contextWindow" | "maxOutputTokens" | "capabilities">;
}

const LIMIT = { default: 20, min: 1, max: 1000 };

export const answersMessages = ({ release }: OfferedModel): boolean =>
  release.capabilities.embeddings !== true;

/** One page of the list, as selected by `limit`, `after_id` and `before_id`. Throws `Refusal` if they are not valid. */
export function printAnthropicPage(models: readonly OfferedModel[], query: URLSearchParams): unknown {
  const all = models
    .filter(answersMessages)
    .toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.model < b.model ? -1 : 1));
  const { page, more } = pageOf(all, query);
  return {
    data: page.map(printAnthropicModel),
    has_more: more,
    first_id: page[0]?.model ?? null,
    last_id: page.at(-1)?.model ?? null,
  };
}

/** Complete, as the vendor's typed clients expect: members that only the vendor has are null, and a listed model is served. */
export const printAnthropicModel = ({ model, createdAtMs, release }: OfferedModel): unknown => ({
  type: "model",
  id: model,
  display_name: model,
  created_at: printTime(createdAtMs),
  max_input_tokens: release.contextWindow,
  max_tokens: release.maxOutputTokens,
  lifecycle: "active",
  line: null,
  capabilities: null,
  deprecated_at: null,
  retires_at: null,
});

function pageOf(
  all: readonly OfferedModel[],
  query: URLSearchParams,
): { page: readonly OfferedModel[]; more: boolean } {
  const limit = limitOf(query.get("limit"));
  const [after, before] = [query.get("after_id"), query.get("before_id")];
  if (after !== null && before !== null)
    throw invalid(null, "before_id", "cannot be combined with `after_id`. Send only one of them.");
  if (before !== null) {
    const end = placeOf(all, before, "before_id");
    const start = Math.max(0, end - limit);
    return { page: all.slice(start, end), more: start > 0 };
  }
  const start = after === null ? 0 : placeOf(all, after, "after_id") + 1;
  return { page: all.slice(start, start + limit), more: start + limit < all.length };
}

function limitOf(text: string | null): number {
  if (text === null) return LIMIT.default;
  if (!/^\d{1,9}$/.test(text)) throw invalid(null, "limit", "must be a whole number.");
  requireRange(Number(text), LIMIT, "integer", "limit");
  return Number(text);
}

function placeOf(all: readonly OfferedModel[], id: string, name: string): number {
  const place = all.findIndex(({ model }) => model === id);
  if (place !== -1) return place;
  throw refuse("invalid_request", null, name, `names a model that is not in this list: \`${clip(id)}\`.`);
}

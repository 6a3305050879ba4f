// The models that a key may use, as its row stores them: a JSON list of their ids; null: all models of its scope.

/** An unreadable list allows nothing. */
export function readAllowedModels(kept: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(kept);
    return Array.isArray(list) ? list.filter((model) => typeof model === "string") : [];
  } catch {
    return []; // a damaged row allows nothing
  }
}

/** Whether a key may use a model; `allowed` null: all models of its scope. */
export const allows = (allowed: readonly string[] | null, model: string): boolean =>
  allowed === null || allowed.includes(model);

// Checks the models that a new key is to use: a name that no release serves is more often a typo than intended. The
// gateway accepts any name, because the list opens nothing
// (docs/decisions/0077-an-entitlement-names-what-there-is.md), so the user is only told.
import { didYouMean } from "../src/domain/near-name.ts";
import { everyPage } from "./every-page.ts";
import type { Gateway } from "./gateway.ts";
import { say } from "./report.ts";

/** Prints to stderr which of these names no release serves. `scope` is that of the key, if it is known here. */
export async function tellUnknownModels(
  gateway: Gateway,
  models: readonly string[] | null | undefined,
  scope: "standard" | "research" | null,
): Promise<void> {
  if (!models) return;
  const { data } = (await everyPage(gateway.call, "GET /admin/v1/releases", {})).value;
  // Say nothing if a release is damaged: it may serve this very name.
  if (data.some(({ model }) => model === null)) return;
  const names = new Set(data.flatMap(({ model }) => model ?? []));
  for (const model of models) {
    if (!names.has(model))
      say(
        `No release serves the model ${JSON.stringify(model)}: the key can use it once one does.${didYouMean(model, names)}`,
      );
    else if (scope === "standard" && !data.some((one) => one.model === model && one.tier === "standard"))
      say(`${JSON.stringify(model)} requires a key of scope research; this key cannot use it.`);
  }
}

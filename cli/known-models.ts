// The models that a key is to use, looked up before it is made: one that no release serves is a slip more often than a plan. The
// gateway takes any, for the list opens nothing (docs/decisions/0077-an-entitlement-names-what-there-is.md); who types is told.
import { didYouMean } from "../src/domain/near-name.ts";
import type { Gateway } from "./gateway.ts";
import { say } from "./report.ts";

/** Says on stderr which of these names nothing serves. `scope`: of the key, where it is known here. */
export async function tellUnknownModels(
  gateway: Gateway,
  models: readonly string[] | null | undefined,
  scope: "standard" | "research" | null,
): Promise<void> {
  if (!models) return;
  const { data } = (await gateway.call("GET /admin/v1/releases", {})).value;
  // What a damaged release served is not told: it may be the very name.
  if (data.some(({ model }) => model === null)) return;
  const names = new Set(data.flatMap(({ model }) => model ?? []));
  for (const model of models) {
    if (!names.has(model))
      say(
        `No release serves the model ${JSON.stringify(model)}: the key can use it from when one does.${didYouMean(model, names)}`,
      );
    else if (scope === "standard" && !data.some((one) => one.model === model && one.tier === "standard"))
      say(`${JSON.stringify(model)} takes a key of scope research: this one cannot use it.`);
  }
}

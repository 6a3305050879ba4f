// The cost of a refused request against a served one: an invalid key, a key without credits, a model that does not
// exist.
import { costOf, per1000Requests } from "../cost.ts";
import { GOALS, figure } from "../figure.ts";
import { chatBody } from "../request.ts";
import type { CostPlan } from "../cost.ts";
import type { Figure } from "../figure.ts";
import type { Bench } from "./bench.ts";

interface Refusal {
  name: string;
  change: Partial<CostPlan>;
}

export async function refusalCost(bench: Bench): Promise<Figure[]> {
  const { plan, tollgate } = bench;
  if (tollgate === null) return [];
  const broke = await tollgate.newCustomer("broke", "0");
  const unknownModel = chatBody("bench-json-1k").replace("bench-json-1k", "bench-no-such-model");
  const refusals: Refusal[] = [
    {
      name: "401 garbage key",
      change: { expectStatus: 401, headers: { Authorization: "Bearer gw_sk_garbage" } },
    },
    { name: "402 no credits", change: { expectStatus: 402, headers: broke.target.headers } },
    { name: "404 unknown model", change: { expectStatus: 404, body: unknownModel } },
  ];
  const base = {
    model: "bench-json-1k",
    concurrency: 64,
    warmUpMs: 200,
    durationMs: plan.refusalMs,
  } as const;
  const served = per1000Requests(await costOf(tollgate, base));
  const figures: Figure[] = [];
  for (const { name, change } of refusals) {
    const cost = per1000Requests(await costOf(tollgate, { ...base, ...change }));
    const place = { section: "Refusals, 64 in flight", peer: tollgate.name };
    figures.push(figure({ ...place, name: `${name}, CPU per 1,000`, unit: "s" }, [cost]));
    figures.push(
      figure({ ...place, name: `${name}, share of served`, unit: "×" }, [cost / served], GOALS.refusalShare),
    );
  }
  return figures;
}

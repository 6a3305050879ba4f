// A budget that pays for seven calls. First two hundred calls at once: how many are answered, and what the provider
// is owed beyond the budget. Then calls in sequence, with `kill -9` after five: how many are answered in all. Only
// peers that keep budgets take part; a ledger that accepts everything keeps none.
import { formatUsd, nanoUsd } from "../../src/domain/money.ts";
import { figure, GOALS } from "../figure.ts";
import { burst } from "../load.ts";
import type { Budgeted, RunningPeer } from "../peer.ts";
import { NULL_LEDGER, TOLLGATE, TOLLGATE_POSTGRES } from "../peer.ts";
import { chatBody, chatRequest } from "../request.ts";
import { PROMPT_TOKENS, RATES, SCRIPTS } from "../scripts.ts";
import { billOf } from "./bench.ts";
import type { Figure } from "../figure.ts";
import type { Bench } from "./bench.ts";

export const BUDGET_SECTION = "A budget for seven calls";
const CALLS = 7;
const AT_ONCE = 200;
const ANSWERED_BEFORE = 5;
/** In sequence, no more than this are tried. */
const TRIED = 3 * CALLS;
/** Some peers record a cost a moment after the answer. */
const NOTED_MS = 500;

const MODEL = "bench-json-slow";
const OUTPUT_TOKENS = SCRIPTS[MODEL].completionTokens;
/** The provider's price of one call, nano-USD. */
const PRICE = BigInt(PROMPT_TOKENS) * RATES.inputNano + BigInt(OUTPUT_TOKENS) * RATES.outputNano;
/** Allows no more output than there will be, so that a hold for the worst case is little more than the price. */
const BODY = JSON.stringify({ ...(JSON.parse(chatBody(MODEL)) as object), max_tokens: OUTPUT_TOKENS });

/** The peers that promise never to exceed the budget: only their figures have a target. */
const PROMISED: ReadonlySet<string> = new Set([TOLLGATE, TOLLGATE_POSTGRES]);

export async function budget(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const peer of bench.peers)
    if (peer.withBudget !== undefined && peer.name !== NULL_LEDGER)
      figures.push(...(await spent(bench, peer)));
  return figures;
}

async function spent(bench: Bench, peer: RunningPeer): Promise<Figure[]> {
  const place = { section: BUDGET_SECTION, peer: peer.name };
  const goal = PROMISED.has(peer.name) ? GOALS.none : null;
  const atOnce = await with7(peer, (budgeted) => answeredAtOnce(bench, peer, budgeted));
  const killed = await with7(peer, answeredAroundKill);
  const owedBeyond = Math.max(0, Number(PRICE) * (atOnce.paid - CALLS)) / 1e9;
  const answeredBeyond = Math.max(0, killed - CALLS);
  return [
    figure({ ...place, name: `${AT_ONCE} at once: answered`, unit: "calls" }, [atOnce.answered]),
    figure(
      { ...place, name: `${AT_ONCE} at once: owed to the provider beyond it`, unit: "USD" },
      [owedBeyond],
      goal,
    ),
    figure({ ...place, name: `one by one, kill -9 after ${ANSWERED_BEFORE}: answered`, unit: "calls" }, [
      killed,
    ]),
    figure(
      { ...place, name: `one by one, kill -9 after ${ANSWERED_BEFORE}: answered beyond it`, unit: "calls" },
      [answeredBeyond],
      goal,
    ),
  ];
}

async function with7<T>(peer: RunningPeer, work: (budgeted: Budgeted) => Promise<T>): Promise<T> {
  const budgeted = await peer.withBudget?.(formatUsd(nanoUsd(PRICE * BigInt(CALLS))));
  if (budgeted === undefined) throw new Error(`${peer.name} keeps no budget`);
  try {
    return await work(budgeted);
  } finally {
    await budgeted.end();
  }
}

async function answeredAtOnce(
  bench: Bench,
  { name }: RunningPeer,
  budgeted: Budgeted,
): Promise<{ answered: number; paid: number }> {
  const finished = async (): Promise<number> =>
    (await billOf(bench.upstream, name)).models[MODEL]?.finished ?? 0;
  const before = await finished();
  const answered = await answeredOf(budgeted, AT_ONCE);
  return { answered, paid: (await finished()) - before };
}

async function answeredAroundKill(budgeted: Budgeted): Promise<number> {
  const before = await answeredInTurn(budgeted, ANSWERED_BEFORE);
  await budgeted.killed();
  return before + (await answeredInTurn(budgeted, TRIED));
}

/** Sends calls until one is refused. */
async function answeredInTurn(budgeted: Budgeted, atMost: number): Promise<number> {
  for (let answered = 0; answered < atMost; answered += 1) {
    if ((await answeredOf(budgeted, 1)) === 0) return answered;
    await Bun.sleep(NOTED_MS);
  }
  return atMost;
}

async function answeredOf(budgeted: Budgeted, atOnce: number): Promise<number> {
  const target = budgeted.target();
  const load = { origin: target.origin, request: chatRequest(target, BODY) };
  return (await burst(load, atOnce)).filter(({ status }) => status === 200).length;
}

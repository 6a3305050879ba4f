// Money is conserved: the charges of customers = the ledger = the upstream's own bill, to the nano-dollar; and a
// balance for N holds admits N of 4N concurrent requests, and no more than it can hold. Each figure must be zero.
import { GOALS, figure } from "../figure.ts";
import { burst, closedLoop } from "../load.ts";
import { TOLLGATE } from "../peer.ts";
import { chatBody, chatRequest } from "../request.ts";
import { PROMPT_TOKENS, RATES, SCRIPTS, SCRIPT_NAMES } from "../scripts.ts";
import { DEFAULT_OUTPUT_TOKENS } from "../tollgate-files.ts";
import { billOf } from "./bench.ts";
import { formatUsd, nanoUsd, parseUsd } from "../../src/domain/money.ts";
import type { Figure } from "../figure.ts";
import type { ScriptName } from "../scripts.ts";
import type { Customer, TollgatePeer } from "../tollgate-peer.ts";
import type { Bill } from "../upstream-bill.ts";
import type { Bench } from "./bench.ts";

const section = "Conservation";
const zero = (name: string, unit: string, difference: number): Figure =>
  figure({ section, name, peer: TOLLGATE, unit }, [difference], GOALS.none);

export async function conservation(bench: Bench): Promise<Figure[]> {
  const { tollgate } = bench;
  if (tollgate === null) return [];
  return [
    ...(await chargesMeetBill(bench, tollgate)),
    ...(await burstMeetsBalance(bench, tollgate)),
    await ledgerHolds(tollgate),
  ];
}

async function chargesMeetBill(bench: Bench, tollgate: TollgatePeer): Promise<Figure[]> {
  const before = await billOf(bench.upstream, TOLLGATE);
  const customer = await tollgate.newCustomer("conservation", "1000.00");
  const loads: { model: ScriptName; requests: number }[] = [
    { model: "bench-json-1k", requests: 500 },
    { model: "bench-json-10k", requests: 200 },
    { model: "bench-sse-50x5", requests: 64 },
  ];
  for (const { model, requests } of loads) {
    const request = chatRequest(customer.target, chatBody(model));
    const load = await closedLoop({ origin: customer.target.origin, request, concurrency: 32, requests });
    if (load.errors > 0) throw new Error(`conservation: ${load.errors} replies failed`);
  }
  const after = await billOf(bench.upstream, TOLLGATE);
  const credits = await creditsOf(tollgate, customer);
  return [
    zero("charges − upstream's bill", "nano-USD", Number(credits.spent - chargesOf(before, after))),
    zero("credits held afterwards", "nano-USD", Number(credits.held)),
    zero("calls the upstream saw twice", "calls", after.repeatedRequestIds),
  ];
}

/** What the calls that finished between two bills cost at the published rates, request by request. */
function chargesOf(before: Bill, after: Bill): bigint {
  let sum = 0n;
  for (const model of SCRIPT_NAMES) {
    const calls = (after.models[model]?.finished ?? 0) - (before.models[model]?.finished ?? 0);
    const tokens =
      BigInt(PROMPT_TOKENS) * RATES.inputNano + BigInt(SCRIPTS[model].completionTokens) * RATES.outputNano;
    sum += BigInt(calls) * (tokens > RATES.minimumNano ? tokens : RATES.minimumNano);
  }
  return sum;
}

async function burstMeetsBalance(bench: Bench, tollgate: TollgatePeer): Promise<Figure[]> {
  const holds = bench.plan.burstHolds;
  const before = await billOf(bench.upstream, TOLLGATE);
  const balance = (await holdOf(tollgate)) * BigInt(holds);
  const customer = await tollgate.newCustomer("burst", formatUsd(nanoUsd(balance)));
  const request = chatRequest(customer.target, chatBody("bench-json-slow"));
  const replies = await burst({ origin: customer.target.origin, request }, 4 * holds);
  const after = await billOf(bench.upstream, TOLLGATE);
  const credits = await creditsOf(tollgate, customer);
  const served = replies.filter((reply) => reply.status === 200).length;
  const refused = replies.filter((reply) => reply.status === 402).length;
  const calls = (bill: Bill): number => bill.models["bench-json-slow"]?.calls ?? 0;
  const name = `${4 * holds} at once, credits for ${holds}`;
  return [
    zero(`${name}: fewer served than ${holds}`, "requests", Math.max(0, holds - served)),
    zero(`${name}: served beyond what it can hold`, "requests", Math.max(0, served - mostHeldBy(balance))),
    zero(`${name}: neither served nor refused 402`, "requests", 4 * holds - served - refused),
    zero(`${name}: upstream calls − served`, "calls", calls(after) - calls(before) - served),
    zero(
      `${name}: granted − spent − left`,
      "nano-USD",
      Number(balance - credits.spent - credits.available - credits.held),
    ),
  ];
}

/** Running holds release the part by which their prompts were overestimated, but none of their output (money.md §6). */
const mostHeldBy = (balance: bigint): number =>
  Number(balance / (BigInt(DEFAULT_OUTPUT_TOKENS) * RATES.outputNano));

/** The hold of one request of the burst, as the gateway quotes it. */
async function holdOf(tollgate: TollgatePeer): Promise<bigint> {
  const { origin, path, headers } = tollgate.target;
  const answer = await fetch(`http://${origin.hostname}:${origin.port}${path}/quote`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: chatBody("bench-json-slow"),
  });
  const quote = (await answer.json()) as { max_charge_usd?: string };
  return amount(quote.max_charge_usd);
}

async function creditsOf(
  tollgate: TollgatePeer,
  customer: Customer,
): Promise<{ available: bigint; held: bigint; spent: bigint }> {
  const credits = await tollgate.cli("credits", "show", "--org", customer.organization);
  return {
    available: amount(credits["available_usd"]),
    held: amount(credits["held_usd"]),
    spent: amount(credits["spent_usd"]),
  };
}

async function ledgerHolds(tollgate: TollgatePeer): Promise<Figure> {
  const audit = await tollgate.cli("ledger", "audit");
  return zero("ledger audit: broken invariants", "", (audit["violations"] as unknown[]).length);
}

function amount(value: unknown): bigint {
  const parsed = typeof value === "string" ? parseUsd(value) : null;
  if (parsed === null) throw new Error(`conservation: "${String(value)}" is no amount`);
  return parsed;
}

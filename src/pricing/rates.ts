// The rate of each token class, and the dearest rate that a request can meet (providers.md §4). Pure.
import { decimalText, type NanoUsd, maxUsd, nanoUsd, ZERO_USD } from "../domain/money.ts";
import { type Price, RATE_NAMES, type Rates } from "../domain/price.ts";
import {
  COMPLETION_CLASSES,
  PROMPT_CLASSES,
  rateInPlace,
  TOKEN_CLASSES,
  type TokenClass,
} from "../domain/token-classes.ts";

/** One nano-USD in the unit that makes every product exact: a rate per 10⁶ tokens times a factor in 10⁻⁹. */
const FINE_PER_NANO = 1_000_000_000_000_000n;
/** The decimal places of an amount in this unit, in US dollars, for `decimalText`. */
export const FINE_PLACES = 24;
/** A factor of one, in 10⁻⁹: prices one token at a rate per 10⁶ of them. */
const FACTOR_ONE = 1_000_000_000n;

const UPWARD = FINE_PER_NANO - 1n;

/** Converts to whole nano-USD, rounded up: once, over a whole sum. */
export const nanoFromFine = (fine: bigint): NanoUsd => nanoUsd((fine + UPWARD) / FINE_PER_NANO);
/** Converts nano-USD to the finer unit that rates are summed in, exactly; only the sum is rounded. */
export const fineFromNano = (amount: bigint): bigint => amount * FINE_PER_NANO;

/** The cost of one token of each class, and its printed form. */
export class RateCard {
  readonly each: Readonly<Record<TokenClass, bigint>>;
  private readonly printed: Partial<Record<TokenClass, string>> = {};

  constructor(rates: Rates, factor: bigint) {
    const each: Partial<Record<TokenClass, bigint>> = {};
    for (const name of TOKEN_CLASSES) each[name] = rateInPlace(name, (at) => rates[RATE_NAMES[at]]) * factor;
    this.each = each as Record<TokenClass, bigint>;
  }

  /** US dollars per million tokens, an exact decimal. */
  perMillion(name: TokenClass): string {
    return (this.printed[name] ??= decimalText(this.each[name], FINE_PLACES - 6));
  }
}

/** Cards of rates without a factor: each request of a release needs the same one. */
const PLAIN = new WeakMap<Rates, RateCard>();

/** Returns the rates for this prompt and the service tier that the reply named: the reached tier prices all tokens. */
export function rateCard(price: Price, promptTokens: number, serviceTier: string | null): RateCard {
  const rates = price.tiers === undefined ? price : (reached(price.tiers, promptTokens) ?? price);
  const factor = factorOf(price, serviceTier);
  if (factor !== FACTOR_ONE) return new RateCard(rates, factor);
  const kept = PLAIN.get(rates);
  if (kept !== undefined) return kept;
  const card = new RateCard(rates, factor);
  PLAIN.set(rates, card);
  return card;
}

const reached = (tiers: NonNullable<Price["tiers"]>, promptTokens: number): Rates | undefined =>
  tiers.findLast(({ abovePromptTokens }) => promptTokens > abovePromptTokens);

/** Returns the cost of one paid call; tiers apply only to tokens. */
export const finePerCall = ({ perThousandCalls = nanoUsd(0n) }: Price): bigint =>
  fineFromNano(perThousandCalls) / 1000n;

/** A tier name that the release does not publish changes nothing. */
function factorOf({ serviceTiers }: Price, named: string | null): bigint {
  if (serviceTiers === undefined || named === null || !Object.hasOwn(serviceTiers, named)) return FACTOR_ONE;
  return serviceTiers[named] ?? FACTOR_ONE;
}

/** The most that one token of a request can cost, and the most that all of its calls cost together. */
export interface DearestRates {
  readonly prompt: bigint;
  readonly output: bigint;
  readonly calls: bigint;
}

/**
 * Returns the dearest class of each tier that a prompt of this length can reach, in the dearest
 * service tier: no request names one, so a reply may name any.
 */
export function dearestRates(price: Price, promptTokens: number): DearestRates {
  if (price.tiers !== undefined) return dearestUpTo(price, promptTokens);
  const kept = DEAREST.get(price);
  if (kept !== undefined) return kept;
  const dearest = dearestUpTo(price, promptTokens);
  DEAREST.set(price, dearest);
  return dearest;
}

/** For prices without tiers, which are the same for every prompt. */
const DEAREST = new WeakMap<Price, DearestRates>();

function dearestUpTo(price: Price, promptTokens: number): DearestRates {
  const { tiers = [], callsMax = 0 } = price;
  let [prompt, output] = [dearestOf(PROMPT_CLASSES, price), dearestOf(COMPLETION_CLASSES, price)];
  for (const tier of tiers) {
    if (promptTokens <= tier.abovePromptTokens) break;
    prompt = maxUsd(prompt, dearestOf(PROMPT_CLASSES, tier));
    output = maxUsd(output, dearestOf(COMPLETION_CLASSES, tier));
  }
  const factor = Object.values(price.serviceTiers ?? {}).reduce((a, b) => (a > b ? a : b), FACTOR_ONE);
  return { prompt: prompt * factor, output: output * factor, calls: BigInt(callsMax) * finePerCall(price) };
}

/** A class without a rate of its own costs the same as another class. */
const dearestOf = (classes: readonly TokenClass[], rates: Rates): NanoUsd =>
  classes.reduce<NanoUsd>((most, name) => maxUsd(most, rates[RATE_NAMES[name]] ?? most), ZERO_USD);

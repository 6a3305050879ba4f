// A model's prices other than input, cached input and output: a line for each class, each tier of long prompts, and
// each service tier. Empty for most models.
import type { Row } from "../../api/routes.ts";
import { formatCount } from "../../format/count.ts";
import { exactMoney } from "../../format/money.ts";
import { modelsTexts as words } from "./texts.ts";

type Price = Row<"GET /orgs/{org}/models">["price"];
type Rates = Pick<Price, keyof typeof words.classes>;

export function classPricesOf({
  per_call,
  calls_max,
  tiers = [],
  service_tiers = {},
  ...rates
}: Price): string[] {
  const calls =
    per_call === undefined ? [] : [words.calls(exactMoney(per_call), formatCount(calls_max ?? 0))];
  const factors = Object.entries(service_tiers).map(([name, factor]) => words.serviceTier(name, factor));
  return [
    [...classesOf(rates), ...calls],
    ...tiers.map((tier) => {
      const { input_per_million: input, cached_input_per_million: cached, output_per_million: output } = tier;
      const plain = words.price(exactMoney(input), exactMoney(cached ?? input), exactMoney(output));
      return [words.above(formatCount(tier.above_prompt_tokens), [plain, ...classesOf(tier)].join(" · "))];
    }),
    factors,
  ]
    .filter((line) => line.length > 0)
    .map((line) => line.join(" · "));
}

const classesOf = (rates: Rates): string[] =>
  (Object.keys(words.classes) as (keyof Rates)[]).flatMap((name) => {
    const rate = rates[name];
    return rate === undefined ? [] : [words.classes[name](exactMoney(rate))];
  });

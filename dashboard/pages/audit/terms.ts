// Changes of limits, settings and alert rules, with the previous values.
import { counted } from "../../format/count.ts";
import { compareMoney } from "../../format/money.ts";
import { formatDay } from "../../format/time.ts";
import { type Line, named, type Part, textOf, usd, type Values } from "./line.ts";

/** `raised the monthly limit of the key Batch from $5.00 to $10.00`. */
export function limited({ it, before, after }: Line): Part[] {
  const [was, is] = [before["limit_usd"], after["limit_usd"]];
  if (typeof was !== "string") return ["set the monthly limit of the key ", it, ` to ${usd(is)}`];
  if (typeof is !== "string") return ["lifted the monthly limit of the key ", it, `, which was ${usd(was)}`];
  const verb = compareMoney(is, was) > 0 ? "raised" : "lowered";
  return [`${verb} the monthly limit of the key `, it, ` from ${usd(was)} to ${usd(is)}`];
}

/** `changed the key Batch: daily limit $5.00 (was none), ends on 3 Dec (was never)`. */
export function settingsOf({ it, before, after }: Line): Part[] {
  const changes = Object.entries(after).map(([field, value]) => {
    const [words, print] = Object.hasOwn(KEY_SETTINGS, field)
      ? (KEY_SETTINGS[field] ?? [field, textOf])
      : [field.replaceAll("_", " "), textOf];
    return `${words} ${print(value)} (was ${print(before[field])})`;
  });
  return ["changed the key ", it, `: ${changes.length === 0 ? "nothing" : changes.join(", ")}`];
}

const KEY_SETTINGS: Readonly<Record<string, readonly [string, (value: unknown) => string]>> = {
  day_limit_usd: ["daily limit", usd],
  week_limit_usd: ["weekly limit", usd],
  max_output_tokens: [
    "maximum output",
    (value) => (typeof value === "number" ? counted(value, "token") : "none"),
  ],
  allowed_models: ["models", (value) => (Array.isArray(value) ? value.map(textOf).join(" and ") : "all")],
  expires_at: ["ends on", (value) => (typeof value === "string" ? formatDay(value) : "no day")],
};

/** `set limits of the key Batch on gpt-5: 60 requests per minute (was 100), no tokens per minute (was 5000)`. */
export function ratesSet({ it, before, after }: Line): Part[] {
  const changes = Object.entries(RATES).flatMap(([field, words]) => {
    const [was, is] = [before[field] ?? null, after[field] ?? null];
    if (was === is) return [];
    const told = is === null ? `no limit of ${words.many}` : rateOf(is, words);
    return [was === null ? told : `${told} (was ${textOf(was)})`];
  });
  const model = after["model"];
  return [
    "set limits of ",
    it,
    ...(typeof model !== "string"
      ? []
      : typeof it !== "string" && it.name === model
        ? [" for each organization"]
        : [" on ", named(model)]),
    `: ${changes.length === 0 ? "nothing changed" : changes.join(", ")}`,
  ];
}

interface RateWords {
  one: string;
  many: string;
}
const RATES: Readonly<Record<string, RateWords>> = {
  requests_per_minute: { one: "request per minute", many: "requests per minute" },
  tokens_per_minute: { one: "token per minute", many: "tokens per minute" },
  concurrent: { one: "request at once", many: "requests at once" },
};

const rateOf = (limit: unknown, { one, many }: RateWords): string => counted(textOf(limit), one, many);

/** `key limit 90 %`. */
export function ruleOf(rule: Values): string {
  const threshold =
    typeof rule["amount_usd"] === "string"
      ? ` ${usd(rule["amount_usd"])}`
      : typeof rule["percent"] === "number"
        ? ` ${rule["percent"]}\u00a0%`
        : typeof rule["days"] === "number"
          ? ` ${counted(rule["days"], "day")}`
          : "";
  return `${textOf(rule["kind"]).replaceAll("_", " ")}${threshold}${rule["on"] === false ? ", off" : ""}`;
}

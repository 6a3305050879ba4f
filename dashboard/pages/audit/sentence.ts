// A line of the audit log as a sentence: "raised the monthly limit of key *Batch* from $5.00 to $10.00". Who did it stands before
// it, the line as it is kept behind it. What nobody wrote a sentence for is told in the words of its action.
import { compareMoney, exactMoney, formatMoney } from "../../format/money.ts";
import { formatTarget, targetOf } from "../../format/change.ts";
import { formatDay } from "../../format/time.ts";
import type { Row } from "../../api/routes.ts";
import { counted } from "../../format/count.ts";

/** Plain words, and names that stand out. */
export type Part = string | { name: string };
export type Told = Pick<Row<"GET /operator/audit">, "action" | "target" | "target_name" | "before" | "after">;
type Values = Readonly<Record<string, unknown>>;
/** A line's values before and after; none where there were none, or where they are damaged. */
interface Line {
  before: Values;
  after: Values;
  /** The target by its name; of credits given back, the request. */
  it: Part;
  /** What the credits go by: the operator's own reference, or the payment's. */
  reference: Part;
}

const named = (text: unknown): Part => ({ name: typeof text === "string" ? text : JSON.stringify(text) });
const textOf = (value: unknown): string =>
  value === null || value === undefined ? "none" : typeof value === "string" ? value : JSON.stringify(value);
const usd = (value: unknown): string => (typeof value === "string" ? formatMoney(value) : "none");
const because = (reason: unknown): Part[] => (typeof reason === "string" ? [`: ${reason}`] : []);
const fromTo = (before: unknown, after: unknown): Part[] => [" from ", named(before), " to ", named(after)];
/** With every digit where they would read the same. */
function available({ before, after }: Line): string {
  const [was, is] = [before["available_usd"], after["available_usd"]];
  if (typeof was !== "string" || typeof is !== "string") return "";
  const print = formatMoney(was) === formatMoney(is) ? exactMoney : formatMoney;
  return `; available went from ${print(was)} to ${print(is)}`;
}

const SENTENCES: Readonly<Record<string, (line: Line) => Part[]>> = {
  "alert_channel.create": ({ after }) => [
    `added the ${textOf(after["kind"] ?? "webhook")} channel `,
    named(after["name"]),
    ` to ${textOf(after["target"])}`,
  ],
  "alert_channel.remove": ({ it }) => ["removed the alert channel ", it],
  "alert_channel.test": ({ it }) => ["sent a test to the alert channel ", it],
  "alert_rule.create": ({ after }) => ["added an alert rule: ", ruleOf(after)],
  "alert_rule.change": ({ before, after }) => [
    "changed an alert rule",
    ...(ruleOf(before) === ruleOf(after)
      ? [`: ${ruleOf(after)}`]
      : [` from ${ruleOf(before)} to ${ruleOf(after)}`]),
  ],
  "alert_rule.remove": () => ["removed an alert rule"],
  "auto_top_up.retry": () => ["tried the automatic top-up again"],
  "auto_top_up.set": ({ after }) =>
    after["on"] === true
      ? [
          `set automatic top-up: ${usd(after["amount_usd"])} when fewer than ${usd(after["threshold_usd"])} are left`,
        ]
      : ["switched automatic top-up off"],
  "card.remove": () => ["removed the saved card"],
  "credits.chargeback": (line) => [
    "took credits back after a chargeback of the payment ",
    line.reference,
    available(line),
  ],
  "credits.grant": (line) => ["granted credits under the reference ", line.reference, available(line)],
  "credits.purchase": (line) => ["credited the payment ", line.reference, available(line)],
  "credits.refund": (line) => [
    "gave credits back for the request ",
    line.it,
    ", under the reference ",
    line.reference,
    available(line),
  ],
  "credits.reason": ({ reference, after }) => [
    "gave the reason of the credits under the reference ",
    reference,
    ...because(after["reason"]),
  ],
  "device.approve": ({ after }) => ["let the command line on ", named(after["host"]), " in"],
  "device.decline": ({ after }) => ["turned the command line on ", named(after["host"]), " away"],
  "entitlement.request": ({ after }) => [
    "asked for Research Mode on ",
    named(after["model"]),
    " for the project ",
    named(after["project"]),
  ],
  "entitlement.approve": ({ it, after }) => [
    "approved Research Mode on ",
    it,
    ` until ${formatDay(textOf(after["expires_at"]))}`,
  ],
  "entitlement.decline": ({ it, after }) => ["declined Research Mode on ", it, ...because(after["reason"])],
  "entitlement.revoke": ({ it }) => ["revoked Research Mode on ", it],
  "entitlement.withdraw": ({ it }) => ["withdrew the request for Research Mode on ", it],
  "key.create": ({ after }) => [
    `created the ${textOf(after["scope"] ?? "standard")} key `,
    named(after["name"]),
    ...("replaces" in after ? [" in place of the one of this name,"] : []),
    typeof after["limit_usd"] === "string"
      ? ` with a monthly limit of ${usd(after["limit_usd"])}`
      : " without a monthly limit",
  ],
  "key.expire": ({ it, after }) => [
    "ended the key ",
    it,
    ", whose time was over",
    ...whenOf(after["expires_at"]),
  ],
  "key.limit": (line) => limited(line),
  "key.pause": ({ it }) => ["paused the key ", it],
  "key.rename": ({ before, after }) => ["renamed a key", ...fromTo(before["name"], after["name"])],
  "key.resume": ({ it }) => ["resumed the key ", it],
  "key.revoke": ({ it }) => ["revoked the key ", it],
  "key.settings": (line) => settingsOf(line),
  "limits.set": (line) => ratesSet(line),
  "management_key.create": ({ after }) => ["created the management key ", named(after["name"])],
  "management_key.revoke": ({ it }) => ["revoked the management key ", it],
  "member.invite": ({ after }) => ["invited ", named(after["email"]), ` as ${textOf(after["role"])}`],
  "member.join": ({ after }) => [`joined as ${textOf(after["role"])}`],
  "member.leave": () => ["left the organization"],
  "member.remove": ({ it, before }) => ["removed ", it, ` (${textOf(before["role"])}) from the organization`],
  "member.role": ({ it, before, after }) => [
    "changed the role of ",
    it,
    ` from ${textOf(before["role"])} to ${textOf(after["role"])}`,
  ],
  "member.uninvite": () => ["withdrew an invitation"],
  "operator.invite": ({ after }) => ["invited ", named(after["email"]), " as an operator"],
  "operator.remove": ({ it }) => ["removed the operator ", it],
  "operator.uninvite": () => ["withdrew the invitation of an operator"],
  "order.create": ({ after }) => [`began to buy credits for ${usd(after["amount_usd"])}`],
  "order.confirm": () => ["confirmed a payment"],
  "organization.create": ({ after }) => ["created the organization ", named(after["name"])],
  "organization.settings": ({ before, after }) =>
    "name" in after
      ? ["renamed the organization", ...fromTo(before["name"], after["name"])]
      : [
          after["require_two_factor"] === true
            ? "now asks members for a second factor"
            : "no longer asks members for a second factor",
        ],
  "person.backup_codes": () => ["made new backup codes"],
  "person.first": () => ["made the first account, an operator"],
  "person.passkey_add": () => ["added a passkey"],
  "person.passkey_remove": () => ["removed a passkey"],
  "person.password": () => ["changed a password"],
  "person.rename": ({ before, after }) => ["changed a name", ...fromTo(before["name"], after["name"])],
  "person.reset": ({ it }) => ["made a link for a new password of ", it],
  "person.second_factor_off": () => ["switched the second factor off"],
  "person.second_factor_on": () => ["switched the second factor on"],
  "person.sign_in": () => ["signed in"],
  "person.sign_out": () => ["signed out"],
  "person.session_end": () => ["ended a session"],
  "provider.open": ({ it, after }) => [
    "took the provider ",
    it,
    " out of service",
    ...because(after["reason"]),
  ],
  "provider.close": ({ it }) => ["put the provider ", it, " back into service"],
  "release.publish": ({ it, before, after }) => [
    "published version ",
    textOf(after["version"]),
    " of the route ",
    it,
    ...(before["version"] === undefined ? [] : [`, after version ${textOf(before["version"])}`]),
  ],
  "request.quarantine": ({ it, after }) => ["set the request ", it, " aside", ...because(after["reason"])],
  "request.resolve": ({ it, before, after }) => [
    "ended the request ",
    it,
    typeof after["charge_usd"] === "string"
      ? `, charged ${usd(after["charge_usd"])} of ${usd(before["held_usd"])} held`
      : `, gave the ${usd(before["held_usd"])} that were held back`,
    ...because(after["reason"]),
  ],
  "route.disable": ({ it, after }) => ["disabled the route ", it, ...because(after["reason"])],
  "route.enable": ({ it }) => ["enabled the route ", it],
};

function limited({ it, before, after }: Line): Part[] {
  const [was, is] = [before["limit_usd"], after["limit_usd"]];
  if (typeof was !== "string") return ["set the monthly limit of the key ", it, ` to ${usd(is)}`];
  if (typeof is !== "string") return ["lifted the monthly limit of the key ", it, `, which was ${usd(was)}`];
  const verb = compareMoney(is, was) > 0 ? "raised" : "lowered";
  return [`${verb} the monthly limit of the key `, it, ` from ${usd(was)} to ${usd(is)}`];
}

const whenOf = (time: unknown): string[] => (typeof time === "string" ? [` on ${formatDay(time)}`] : []);

/** `changed the key Batch: daily limit $5.00 (was none), ends on 3 Dec (was never)`. */
function settingsOf({ it, before, after }: Line): Part[] {
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
function ratesSet({ it, before, after }: Line): Part[] {
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
function ruleOf(rule: Values): string {
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

/** The words after whoever did it. */
export function sentenceOf(told: Told): Part[] {
  const { request, reference } = targetOf(told.target);
  const line: Line = {
    before: valuesOf(told.before),
    after: valuesOf(told.after),
    it: { name: told.target_name ?? request ?? formatTarget(told.target) },
    reference: { name: reference },
  };
  const write = Object.hasOwn(SENTENCES, told.action) ? SENTENCES[told.action] : undefined;
  return write === undefined ? inItsOwnWords(told.action, line) : write(line);
}

export const plain = (parts: readonly Part[]): string =>
  parts.map((part) => (typeof part === "string" ? part : part.name)).join("");

/** As it is kept, for the pointer. */
export const rawOf = ({ action, target, before, after }: Told): string =>
  [
    `${action} ${target}`,
    ...(before === null && after === null ? [] : [`${before ?? "–"} → ${after ?? "–"}`]),
  ].join("\n");

/** `key.pause` of a later version is `key pause: Batch, on true`. */
const inItsOwnWords = (action: string, { it, before, after }: Line): Part[] => [
  `${action.replaceAll(/[._]/g, " ")}: `,
  it,
  ...changesOf(before, after),
];

/** What is not as it was. */
const changesOf = (before: Values, after: Values): string[] =>
  Object.entries(after)
    .filter(([field, value]) => textOf(before[field]) !== textOf(value))
    .map(([field, value]) => {
      const words = field.replaceAll("_", " ");
      return before[field] === undefined
        ? `, ${words} ${textOf(value)}`
        : `, ${words} from ${textOf(before[field])} to ${textOf(value)}`;
    });

function valuesOf(json: string | null): Values {
  try {
    const value: unknown = JSON.parse(json ?? "{}");
    return typeof value === "object" && value !== null ? (value as Values) : {};
  } catch {
    return {};
  }
}

// A line of the audit log as a sentence: "raised the monthly limit of key *Batch* from $5.00 to $10.00". The actor
// comes before it, the raw line after it. An action without a sentence is described by its own name.
import type { Row } from "../../api/routes.ts";
import { formatTarget, targetOf } from "../../format/change.ts";
import { formatDay } from "../../format/time.ts";
import {
  available,
  because,
  fromTo,
  type Line,
  named,
  type Part,
  textOf,
  usd,
  type Values,
  whenOf,
} from "./line.ts";
import { limited, ratesSet, ruleOf, settingsOf } from "./terms.ts";

export type Told = Pick<Row<"GET /operator/audit">, "action" | "target" | "target_name" | "before" | "after">;
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
  "data_key.rotate": ({ after }) => [
    "changed the data key of the store",
    ...(after["leaked"] === true ? [", because the old one was leaked"] : []),
  ],
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
  "key.limit": limited,
  "key.pause": ({ it }) => ["paused the key ", it],
  "key.rename": ({ before, after }) => ["renamed a key", ...fromTo(before["name"], after["name"])],
  "key.resume": ({ it }) => ["resumed the key ", it],
  "key.revoke": ({ it }) => ["revoked the key ", it],
  "key.settings": settingsOf,
  "limits.set": ratesSet,
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
  "organization.resume": ({ after }) => [
    "let the organization make paid calls again",
    ...because(after["reason"]),
  ],
  "organization.stop": ({ after }) => [
    "refuses the organization's paid calls: ",
    textOf(after["invariant"]),
    ` should be ${textOf(after["expected"])} and is ${textOf(after["found"])}`,
  ],
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

/** The words after the actor. */
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

/** The raw record, for the tooltip. */
export const rawOf = ({ action, target, before, after }: Told): string =>
  [
    `${action} ${target}`,
    ...(before === null && after === null ? [] : [`${before ?? "–"} → ${after ?? "–"}`]),
  ].join("\n");

/** `key.pause` of a later version becomes `key pause: Batch, on true`. */
const inItsOwnWords = (action: string, { it, before, after }: Line): Part[] => [
  `${action.replaceAll(/[._]/g, " ")}: `,
  it,
  ...changesOf(before, after),
];

/** The values that changed. */
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

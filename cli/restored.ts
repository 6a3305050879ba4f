// What `db restore` prints: what came back, and everything that somebody has to do again.
import { counted } from "../src/domain/counted.ts";
import { formatUsd } from "../src/domain/money.ts";
import type { HeldOn } from "../src/main/restore-held.ts";
import type { CreditGone, ReversalGone } from "../src/main/restore-money.ts";
import type { RestoreResult } from "../src/main/restore.ts";
import type { RestoreReport } from "../src/main/restore-report.ts";
import { dollars, plain } from "./table.ts";

/** `tollgate`: the command that works on this directory. */
export function restoredReport(
  restored: RestoreResult,
  { dataDir, file, tollgate }: { dataDir: string; file: string; tollgate: string },
): RestoreReport {
  const { schema, bytes, people, kept, formerKey, heldOn, standsAgain, earlier } = restored;
  const accounts =
    people === null
      ? "The backup has no accounts; those of the data directory stay."
      : `The accounts are from ${people}.`;
  const before =
    kept.length === 0 ? "There was no store before." : `The previous store is kept as ${kept.join(", ")}.`;
  return {
    json: JSON.stringify(documentOf(restored, { dataDir, file })),
    text: [
      `Restored ${counted(bytes, "byte")} of schema ${schema} as the store in ${dataDir}. ${accounts} ${before}`,
      ...toldOf(heldOn),
      ...toldOfPeople(standsAgain),
      ...(formerKey === null ? [] : formerAgain(formerKey, tollgate)),
      `This is kept, and told again by: ${tollgate} db restored`,
      ...listed(
        `Reports of earlier restores here, which are not repeated (${tollgate} db restored FILE)`,
        earlier,
      ),
      `→ Start the gateway, ${tollgate} serve, and check its books: ${tollgate} ledger audit`,
    ].join("\n"),
  };
}

const documentOf = (
  { schema, bytes, people, kept, formerKey, heldOn, standsAgain, earlier }: RestoreResult,
  { dataDir, file }: { dataDir: string; file: string },
): object => ({
  data_dir: dataDir,
  file,
  schema,
  bytes,
  people,
  kept,
  former_key: formerKey,
  stay_revoked: heldOn?.revoked ?? null,
  routes_kept: heldOn?.routes ?? null,
  retries_anew: heldOn?.retriesAnew ?? null,
  credits_gone: heldOn?.creditsGone.map(inDollars) ?? null,
  reversals_gone: heldOn?.reversalsGone.map(inDollars) ?? null,
  keys_unpaused: heldOn?.keysUnpaused ?? null,
  charged_again: heldOn?.chargedAgain ?? null,
  made_since: heldOn?.since.made ?? null,
  changed_since: heldOn?.since.changed ?? null,
  earlier_reports: earlier,
  ended_since: heldOn?.since.ended ?? null,
  members_again: standsAgain?.members ?? null,
  operators_again: standsAgain?.operators ?? null,
  sign_ins_again: standsAgain?.signIns ?? null,
  invitations_ended: standsAgain?.invitationsEnded ?? null,
});

const inDollars = ({ amount, ...row }: CreditGone | ReversalGone): object => ({
  ...row,
  usd: formatUsd(amount),
});

const formerAgain = (key: string, tollgate: string): string[] => [
  `The backup was made with an earlier data key, kept as ${key}: that is data.key again, and the current one is kept beside it.`,
  `→ Change the key again before you start: ${tollgate} db rotate-key, with --leaked if the old one leaked.`,
];

function toldOf(heldOn: HeldOn | null): string[] {
  if (heldOn === null)
    return [
      "There was no store to read later changes from: keys and entitlements that were revoked or paused after the backup work again, routes that were disabled after it are open, and refunded or disputed payments can be spent again. Revoke, pause, disable and book them again.",
    ];
  const { revoked, routes, retriesAnew, keysUnpaused, chargedAgain, since } = heldOn;
  return [
    `Changes after the backup that still apply: ${counted(revoked, "revocation")} of API keys, management keys (each start creates one for operator.json) or entitlements, ${counted(routes, "route")} published, disabled or enabled.`,
    ...(retriesAnew === 0
      ? []
      : [
          `Lost since the backup: ${counted(retriesAnew, "request")} with an Idempotency-Key, among others. A retry of one of them is a new request, for which the provider is paid again.`,
        ]),
    ...toldOfMoney(heldOn),
    ...listed(
      "Keys that were paused after the backup and are active again (./tollgate keys pause KEY)",
      keysUnpaused,
    ),
    ...listed(
      "Organizations that switched off automatic top-up after the backup and whose card is charged automatically again (start with payments: { driver: manual } until they have switched it off again)",
      chargedAgain,
    ),
    ...listed("Gone, made since the backup: make them again where they are wanted", since.made),
    ...listed("As in the backup again, changed since: change them once more", since.changed),
    ...listed(
      "There again, though the replaced store did not have them any more: remove them once more",
      since.ended,
    ),
  ];
}

/** What to book again. A chargeback is booked by its service's event only: no command takes money. */
function toldOfMoney({ creditsGone, reversalsGone }: HeldOn): string[] {
  const chargebacks = reversalsGone.filter(({ kind }) => kind === "chargeback");
  const refunds = reversalsGone.filter(({ kind }) => kind === "refund");
  const them = ({ length }: { length: number }): string => (length === 1 ? "it" : "them");
  const lost = (gone: readonly object[], one: string, todo: string, lines: string[]): string[] =>
    listed(`Lost since the backup: ${counted(gone.length, one)}. ${todo}`, lines);
  return [
    ...lost(creditsGone, "credit", `Credit ${them(creditsGone)} again`, creditsGone.map(printed)),
    ...lost(
      chargebacks,
      "chargeback",
      `What ${chargebacks.length === 1 ? "it" : "they"} took back can be spent again: have the payment service resend ${them(chargebacks)} (docs/payments.md). If one took back a credit listed above, credit only what remains of it`,
      chargebacks.map((gone) => `${printed(gone)} for ${gone.target}`),
    ),
    ...lost(
      refunds,
      "refund",
      `Refund ${them(refunds)} again (./tollgate credits refund REQUEST --usd USD --reference REFERENCE)`,
      refunds.map((gone) => `${printed(gone)} for ${gone.target}`),
    ),
  ];
}

const printed = ({ org, kind, amount, reference }: CreditGone | ReversalGone): string =>
  `${dollars(formatUsd(amount))} ${kind} of ${org}, ${reference}`;

const listed = (what: string, names: readonly string[]): string[] =>
  names.length === 0 ? [] : [`${what}:${each(names)}`];

/** All of them, one per line: a restore prints this only once. */
const each = (names: readonly string[]): string => names.map((name) => `\n  ${plain(name)}`).join("");

/** Changes to people that the restore has undone, so that whoever made them can make them again. */
function toldOfPeople(standsAgain: RestoreResult["standsAgain"]): string[] {
  if (standsAgain === null) return [];
  const { members, operators, signIns, invitationsEnded } = standsAgain;
  const again = [
    [
      members,
      "Removed or given another role after the backup, and members with their former role again",
      "./tollgate members remove",
    ],
    [
      operators,
      "Removed as operators after the backup, and operators again",
      "Operators → People removes them",
    ],
    [
      signIns,
      "Sign in as at the time of the backup, although their password, passkeys or second factor have changed since",
      "./tollgate people reset EMAIL",
    ],
  ] as const;
  return [
    ...again
      .filter(([names]) => names !== null && names.length > 0)
      .map(([names, what, way]) => `${what} (${way}):${each(names ?? [])}`),
    ...(members === null
      ? [
          "The previous accounts could not be read: members and operators who were removed after the backup are back. Remove them again.",
        ]
      : []),
    ...(invitationsEnded > 0
      ? [
          `${counted(invitationsEnded, "invitation")} of the backup ended. Send again those that are still wanted.`,
        ]
      : []),
  ];
}

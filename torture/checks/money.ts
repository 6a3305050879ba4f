// The books on their own: the gateway's own audit, nothing left held, no figure below zero, and every charge
// recomputed here, in three lines that share nothing with the gateway's.
import { parseUsd } from "../../src/domain/money.ts";
import type { BalanceJson, Check, Violation } from "../evidence.ts";
import { MINIMUM_NANO } from "../models.ts";

export const audits: Check = ({ found }) => {
  const during = found.history.audits.map(({ atMs, report }) => ({
    broken: "an audit during the run was not clean",
    facts: { atMs, report },
  }));
  if (found.audit.ok) return during;
  return [...during, { broken: "the audit at the end was not clean", facts: { report: found.audit } }];
};

export const nothingHeld: Check = ({ found }) => {
  const open = found.rows.filter(({ state }) => state !== "settled" && state !== "released");
  const held = [...found.balances].filter(([, balance]) => usd(balance, "held_usd") !== 0n);
  return [
    ...open.map((row) => ({ broken: "a request was never finished", facts: { ...row } })),
    ...held.map(([customer, balance]) => ({
      broken: "credits are still held",
      facts: { customer, balance },
    })),
  ];
};

/** Only a corrupted record waits for an operator, and only an operator prices by hand. */
export const quarantines: Check = ({ found }) => {
  const { quarantined, rotten } = found.history;
  const sound = [...quarantined].filter((requestId) => !rotten.has(requestId));
  const byHand = found.rows.filter(
    ({ evidence, requestId }) => evidence === "operator" && !quarantined.has(requestId),
  );
  return [
    ...sound.map((requestId) => ({ broken: "a sound record was quarantined", facts: { requestId } })),
    ...byHand.map((row) => ({ broken: "a charge by hand that no operator made", facts: { ...row } })),
  ];
};

export const balances: Check = (evidence) => {
  const { history, rows } = evidence.found;
  const final = [...evidence.found.balances].map(([customer, balance]) => ({
    customer,
    balance,
    atMs: Date.now(),
  }));
  const figures = [...history.balances, ...final].flatMap(({ customer, atMs, balance }) =>
    unsound(balance).map((broken) => ({ broken, facts: { customer, atMs, balance } })),
  );
  const headers = history.exchanges
    .filter(({ headers }) => headers["x-gw-credits-available-usd"]?.startsWith("-"))
    .map((exchange) => ({ broken: "credits below zero in an answer", facts: { headers: exchange.headers } }));
  const sums = final.flatMap(({ customer, balance }) => {
    const organization = history.customers.get(customer)?.organizationId;
    const charged = rows
      .filter(({ organizationId }) => organizationId === organization)
      .reduce((sum, { charge }) => sum + charge, 0n);
    if (charged === usd(balance, "spent_usd")) return [];
    return [
      { broken: "what was spent is not the sum of the charges", facts: { customer, charged, balance } },
    ];
  });
  return [...figures, ...headers, ...sums];
};

/** Each acknowledged top-up is credited once, under its reference; nothing else was credited. */
export const moneyIn: Check = ({ found }) =>
  [...found.history.customers.values()].flatMap(({ plan, credited }): Violation[] => {
    const expected = [...credited.values()].reduce((sum, nano) => sum + nano, 0n);
    const balance = found.balances.get(plan);
    if (balance === undefined) return []; // `torture` has noted why there is none
    const came = usd(balance, "purchased_usd") + usd(balance, "granted_usd");
    if (came === expected) return [];
    return [
      { broken: "credits that came in are not the top-ups", facts: { customer: plan, expected, came } },
    ];
  });

export const charges: Check = ({ found }) =>
  found.rows.flatMap((row): Violation[] => {
    if (row.state !== "settled" || row.evidence === "operator") return [];
    const tokens = BigInt((row.promptTokens ?? 0) + (row.completionTokens ?? 0));
    const release = found.history.releases.find(({ digest }) => digest === row.releaseDigest);
    if (release === undefined)
      return [{ broken: "a charge by a release that nobody published", facts: { ...row } }];
    const worthOf = (count: bigint): bigint =>
      count * release.nanoPerToken > MINIMUM_NANO ? count * release.nanoPerToken : MINIMUM_NANO;
    const worth = worthOf(tokens);
    const due = worth < row.hold ? worth : row.hold;
    const used = row.toldTokens === null ? worth : worthOf(BigInt(row.toldTokens));
    if (row.charge === due && row.variance === used - due) return [];
    return [{ broken: "a charge is not what its tokens cost within its hold", facts: { ...row, due } }];
  });

function unsound(balance: BalanceJson): string[] {
  const [available, held, spent] = ["available_usd", "held_usd", "spent_usd"].map((name) =>
    usd(balance, name),
  );
  const negative = Object.values(balance).some(
    (figure) => typeof figure === "string" && figure.startsWith("-"),
  );
  const sum = (available ?? 0n) + (held ?? 0n) + (spent ?? 0n) - usd(balance, "debt_usd");
  const came = usd(balance, "purchased_usd") + usd(balance, "granted_usd");
  return [
    ...(negative ? ["a balance was below zero"] : []),
    ...(sum === came ? [] : ["credits came in or went without an entry"]),
  ];
}

function usd(balance: BalanceJson, name: string): bigint {
  const text = String(balance[name]);
  const amount: bigint | null = parseUsd(text.replace(/^-/, ""));
  if (amount === null) throw new Error(`${name} is ${text}`);
  return text.startsWith("-") ? -amount : amount;
}

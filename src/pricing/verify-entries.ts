// The ledger's side of a charge: checks that each entry's hash follows from its parts, that its amount
// is what its requests moved, and that the chain continues from it unbroken.
import type { EntryRecordJson, EvidenceJson } from "../api/shapes/evidence.ts";
import { entryFigures } from "../domain/entry-figures.ts";
import { formatUsd, nanoUsd } from "../domain/money.ts";
import type { ReceiptJson } from "../domain/receipt.ts";
import type { Check } from "../domain/verification.ts";
import { canCheck, fromHex, sha256 } from "./check-signature.ts";
import { nanoOf } from "./receipt-price.ts";

/** No figure of an entry is below zero, so text that is not an amount gives a different hash than the entry's. */
const NO_AMOUNT = -1n;
const exact = (usd: string): bigint => nanoOf(usd) ?? NO_AMOUNT;

function hashOf(entry: EntryRecordJson): Promise<string> {
  const figures = entryFigures({
    organizationId: entry.org,
    slot: entry.slot,
    version: entry.n,
    txn: entry.txn,
    kind: entry.kind,
    debit: entry.debit,
    credit: entry.credit,
    amount: exact(entry.amount_usd),
    availableBefore: exact(entry.available_before_usd),
    availableAfter: exact(entry.available_after_usd),
    heldBefore: exact(entry.held_before_usd),
    heldAfter: exact(entry.held_after_usd),
    requests: entry.requests,
    atMs: Date.parse(entry.at),
    reference: entry.reference,
  });
  return sha256(fromHex(entry.prev_hash), figures);
}

type Own = EvidenceJson["entries"][number];

/** Returns the entries that a receipt requires, with their amounts. */
function expected({ charge, hold, state }: ReceiptJson): { kind: string; usd: string }[] {
  const moved =
    state === "settled"
      ? [
          { kind: "charge", usd: charge.usd },
          { kind: "rest", usd: charge.returned_usd },
          { kind: "variance", usd: charge.above_hold_usd },
        ]
      : [{ kind: "void", usd: hold.usd }];
  return moved.filter(({ usd }) => /[1-9]/.test(usd));
}

/** Checks the hash of each entry, its amount against its requests, and this request's part against the receipt. */
export async function checkEntries({ entries, receipt: { receipt }, org }: EvidenceJson): Promise<Check[]> {
  const part = (kind: string): string =>
    formatUsd(
      nanoUsd(
        entries
          .filter(({ entry }) => entry.kind === kind)
          .reduce((sum, { amount_usd }) => sum + (nanoOf(amount_usd) ?? 0n), 0n),
      ),
    );
  const held = formatUsd(nanoUsd((nanoOf(part("hold")) ?? 0n) - (nanoOf(part("lower")) ?? 0n)));
  const parts = [
    { kind: "hold", usd: receipt.hold.usd, found: held },
    ...expected(receipt).map(({ kind, usd }) => ({ kind, usd, found: part(kind) })),
  ];
  return [
    ...parts.map(
      ({ kind, usd, found }): Check => ({ what: "part", of: kind, stated: usd, found, holds: usd === found }),
    ),
    ...(await Promise.all(entries.map((own) => checkEntry(own, org)))).flat(),
  ];
}

async function checkEntry({ entry, amount_usd, others, complete }: Own, org: string): Promise<Check[]> {
  const of = `${entry.kind} #${entry.n}`;
  const sum = [amount_usd, ...others.map((other) => other.amount_usd)].reduce(
    (all, one) => all + (nanoOf(one) ?? 0n),
    0n,
  );
  const found = formatUsd(nanoUsd(sum));
  const holds = entry.amount_usd === found;
  const covers: Check = {
    what: "sum",
    of,
    stated: entry.amount_usd,
    found,
    holds: complete || holds ? holds : null,
  };
  if (!canCheck()) return [covers, { what: "hash", of, stated: entry.hash, found: "unable", holds: null }];
  const hash = await hashOf(entry);
  return [
    covers,
    { what: "hash", of, stated: entry.hash, found: hash, holds: hash === entry.hash && entry.org === org },
  ];
}

/** Checks that each entry follows from the previous one, in hash and balance, and that the last is the head if it reaches it. */
export async function checkChain({ chain, entries, head, org }: EvidenceJson): Promise<Check[]> {
  const [first, last] = [chain[0], chain.at(-1)];
  const none = first === undefined || last === undefined;
  if (!canCheck() || (none && entries.length === 0))
    return [{ what: "links", stated: "", found: "unable", holds: null }];
  if (none) return [{ what: "links", stated: "unbroken", found: "–", holds: false }];
  const broken = await brokenAfter(null, chain, org);
  // The request's last entry is always in this part of the chain; its first may come before it if many are in between.
  const newest = Math.max(...entries.map(({ entry }) => entry.n));
  const asked = entries.filter(
    ({ entry }) => entry.n === newest || (entry.n >= first.n && entry.n <= last.n),
  );
  const kept = asked.every(({ entry }) => chain.some(({ n, hash }) => n === entry.n && hash === entry.hash));
  const span = `#${first.n} – #${last.n}`;
  return [
    {
      what: "links",
      of: span,
      stated: "unbroken",
      found: broken === null ? "unbroken" : `#${broken}`,
      holds: broken === null,
    },
    { what: "in_chain", of: span, stated: "yes", found: kept ? "yes" : "no", holds: kept },
    last.n === head.n
      ? {
          what: "head",
          of: `#${head.n}`,
          stated: head.hash,
          found: last.hash,
          holds: head.hash === last.hash,
        }
      : {
          what: "further",
          of: `#${head.n}`,
          stated: head.hash,
          found: String(head.n - last.n),
          holds: head.n > last.n ? null : false,
        },
  ];
}

/** Returns the number of the first entry that does not follow from the previous one; null if all do. */
async function brokenAfter(
  last: EntryRecordJson | null,
  chain: readonly EntryRecordJson[],
  org: string,
): Promise<number | null> {
  let before = last;
  for (const entry of chain) {
    const joins =
      before === null ||
      (entry.n === before.n + 1 &&
        entry.prev_hash === before.hash &&
        entry.available_before_usd === before.available_after_usd &&
        entry.held_before_usd === before.held_after_usd);
    if (!joins || entry.org !== org || (await hashOf(entry)) !== entry.hash) return entry.n;
    before = entry;
  }
  return null;
}

/** Requests the evidence again, with the chain from this entry on. */
export type AskChain = (from: number) => Promise<Pick<EvidenceJson, "chain" | "head">>;

/**
 * Follows the chain from where the evidence ends to the head that the evidence named, however far
 * that is. `reached` is called with the number of the last entry of each piece; it may throw to stop.
 */
export async function followChain(
  { chain, head, org }: Pick<EvidenceJson, "chain" | "head" | "org">,
  ask: AskChain,
  reached: (n: number) => void,
): Promise<Check> {
  const of = `#${head.n}`;
  let last = chain.at(-1);
  while (last !== undefined && last.n < head.n) {
    const piece = (await ask(last.n + 1)).chain;
    const broken = piece.length === 0 ? last.n + 1 : await brokenAfter(last, piece, org);
    if (broken !== null) return { what: "links", of, stated: "unbroken", found: `#${broken}`, holds: false };
    // Entries written meanwhile are beyond the named head.
    last = piece.find(({ n }) => n === head.n) ?? piece.at(-1);
    if (last !== undefined) reached(last.n);
  }
  const found = last?.hash ?? "–";
  return { what: "head", of, stated: head.hash, found, holds: found === head.hash };
}

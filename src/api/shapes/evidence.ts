// What proves a charge: the ledger's entries with every figure that their hashes cover, the signed release,
// the signed receipt, and the public keys of both. Its holder can check the charge without trusting us.
import { z } from "zod";
import { entryKind } from "./billing.ts";
import { count, orgId, time, usd, wholeListOf } from "./fields.ts";
import { signedReceipt } from "./activity.ts";

/** An entry as its hash covers it (money.md §5): the previous hash and these figures in this order. */
export const entryRecord = z
  .object({
    org: orgId,
    slot: count,
    n: count.describe("The entry's number in the organization's ledger, counted from 1 without gaps."),
    txn: count,
    kind: z.string(),
    debit: z.string(),
    credit: z.string(),
    amount_usd: usd,
    available_before_usd: usd,
    available_after_usd: usd,
    held_before_usd: usd,
    held_after_usd: usd,
    requests: count.describe("The number of requests in this entry; 0 for credits and chargebacks."),
    at: time,
    reference: z.string().nullable(),
    prev_hash: z.string(),
    hash: z.string(),
  })
  .meta({ id: "LedgerEntry" });

/** The first entry of the chain to return; default: the request's entries. */
export const chainQuery = {
  chain_from: z.coerce.number().int().min(1).max(999_999_999_999_999).optional(),
};

/** A request's part of an entry. */
const part = z.object({ request: z.string(), amount_usd: usd });

/** The entries of one request, in order. */
const ownEntry = z.object({
  n: count,
  at: time,
  kind: entryKind,
  amount_usd: usd.describe("This request's part of the entry."),
  requests: count,
});
export const requestEntryList = wholeListOf(ownEntry);

export const ledgerEntryDetail = z.object({
  entry: entryRecord,
  newest: count.describe("Number of the ledger's last entry."),
  balance_usd: usd.describe("available + held after the entry."),
  /** For a refund: the request whose charge was given back. */
  about: z.string().nullable(),
  parts: z.array(part.extend({ model: z.string(), key: z.object({ id: z.string(), name: z.string() }) })),
  /** False if some of its requests began too long before it to be searched. */
  complete: z.boolean(),
});

const publicKey = z.object({
  kid: z.string(),
  kty: z.literal("OKP"),
  crv: z.literal("Ed25519"),
  x: z.string(),
});

export const evidence = z
  .object({
    request: z.string(),
    org: orgId,
    receipt: signedReceipt,
    receipt_keys: z.array(publicKey),
    release: z.string().describe("The signed release that priced it: compact JWS."),
    release_key: publicKey.nullable().describe("Null if the signer is no longer trusted."),
    entries: z.array(
      z.object({
        entry: entryRecord,
        amount_usd: usd.describe("This request's part of the entry."),
        others: z.array(part).describe("The other requests in the entry."),
        complete: z.boolean(),
      }),
    ),
    chain: z.array(entryRecord).describe("From the request's entries towards the head, at most 200."),
    head: z.object({ n: count, hash: z.string() }),
  })
  .meta({ id: "Evidence" });

export type EvidenceJson = z.output<typeof evidence>;
export type EntryRecordJson = z.output<typeof entryRecord>;

// Collects what proves a charge to somebody who trusts nobody: receipt, release, ledger entries and the chain
// following them. Everything belongs to one organization; the length of the chain is limited.
import type * as shapes from "../api/shapes/evidence.ts";
import type { z } from "zod";
import { formatUsd } from "../domain/money.ts";
import { missingRelease } from "../ledger/unreadable.ts";
import type { ReceiptPorts, ReceiptSigner } from "../gateway/signed-receipt.ts";
import type { Publisher } from "../releases/publish.ts";
import { from, rowOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { entriesBetween, newestEntry, type StoredEntry } from "./ledger-place.ts";
import { receiptOfRequest } from "./receipts.ts";
import {
  entriesOfRequest,
  entryRecordOf,
  isOfRequests,
  type OwnEntry,
  partsOfEntry,
} from "./request-entries.ts";

type Evidence = z.output<typeof shapes.evidence>;

export interface EvidencePorts extends Omit<ReceiptPorts, "receipts"> {
  sql: Sql;
  receipts: Pick<ReceiptSigner, "jwks" | "sign">;
  publisher: Pick<Publisher, "publicKeys">;
}

/** The most chain entries in one response. */
const CHAIN_SHOWN = 200n;

export interface EvidenceAsk {
  request: string;
  /** An entry's number, for callers who follow the chain to its head. */
  chainFrom?: number | undefined;
  /**
   * Whether the rest of the ledger may be shown, including purchases and chargebacks: only to those who may
   * see billing.
   */
  billing: boolean;
}

/** Throws if the organization has no such request, or while it is running. */
export async function evidenceOf(
  on: EvidencePorts,
  organizationId: string,
  { request: requestId, chainFrom: asked, billing }: EvidenceAsk,
): Promise<Evidence> {
  const { sql } = on;
  const receipt = await receiptOfRequest(on, organizationId, requestId);
  const { digest, signed_by: signer } = receipt.receipt.release;
  const query = from.selectFrom("route_release").select("jws").where("digest", "=", digest);
  const release = await rowOf(sql, query);
  if (release === undefined) throw missingRelease(requestId);
  const own = await entriesOfRequest(sql, organizationId, requestId);
  const head = await newestEntry(sql, organizationId);
  const start = asked === undefined ? chainStart(own, head) : BigInt(asked);
  const entries = await entriesBetween(sql, organizationId, [start, start + CHAIN_SHOWN - 1n]);
  const chain = billing ? entries : upToMoney(entries, own.at(-1)?.entry.version ?? start);
  const [newest] = await entriesBetween(sql, organizationId, [head, head]);
  const keys = await on.publisher.publicKeys();
  return {
    request: requestId,
    org: organizationId,
    receipt,
    receipt_keys: (await on.receipts.jwks()).keys.map(publicKeyOf),
    release: release.jws,
    release_key: keys.find(({ kid }) => kid === signer) ?? null,
    entries: await Promise.all(
      own.map(async ({ entry, amount }) => {
        const alone = entry.requests === 1n;
        const { rows, complete } = alone ? { rows: [], complete: true } : await partsOfEntry(sql, entry);
        return {
          entry: entryRecordOf(entry),
          amount_usd: formatUsd(amount),
          others: rows
            .filter(({ row }) => row.request_id !== requestId)
            .map((part) => ({ request: part.row.request_id, amount_usd: formatUsd(part.amount) })),
          complete,
        };
      }),
    ),
    chain: chain.map(entryRecordOf),
    head: { n: Number(head), hash: newest === undefined ? "" : Buffer.from(newest.hash).toString("hex") },
  };
}

/** Up to a request's last entry, and on to the first entry that no request made. */
function upToMoney(entries: readonly StoredEntry[], last: bigint): readonly StoredEntry[] {
  const end = entries.findIndex(({ version, kind }) => version > last && !isOfRequests(kind));
  return end === -1 ? entries : entries.slice(0, end);
}

const publicKeyOf = ({
  kid = "",
  x = "",
}: {
  kid?: string;
  x?: string;
}): Evidence["receipt_keys"][number] => ({
  kid,
  kty: "OKP",
  crv: "Ed25519",
  x,
});

/** The first of a request's entries; if too many lie in between, the first of its last transaction. */
function chainStart(own: readonly OwnEntry[], head: bigint): bigint {
  const [first, last] = [own[0]?.entry.version ?? head, own.at(-1)?.entry.version ?? head];
  const ended = own.find(({ entry }) => entry.txn === own.at(-1)?.entry.txn)?.entry.version ?? last;
  return last - first < CHAIN_SHOWN ? first : ended;
}

// What proves a charge to whoever believes nobody: receipt, release, entries of the ledger and the chain on from them. Everything
// is of one organization; how much of the chain is told is bounded.
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

/** Entries of the chain in one answer. */
const CHAIN_SHOWN = 200n;

export interface EvidenceAsk {
  request: string;
  /** Number of an entry, for who follows the chain to its head. */
  chainFrom?: number | undefined;
  /** Whether what else is in the ledger may be told, purchases and chargebacks too: to who may see billing. */
  billing: boolean;
}

/** Throws when the organization has no such request, or while it runs. */
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

/** To a request's last entry, and on to the first one that no request made. */
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

/** The first of a request's entries; the first of its last ones where many lie in between. */
function chainStart(own: readonly OwnEntry[], head: bigint): bigint {
  const [first, last] = [own[0]?.entry.version ?? head, own.at(-1)?.entry.version ?? head];
  const ended = own.find(({ entry }) => entry.txn === own.at(-1)?.entry.txn)?.entry.version ?? last;
  return last - first < CHAIN_SHOWN ? first : ended;
}

// Receipts that prove themselves: signed with a key derived from the data key, so that every gateway on a store signs with the same
// key and `/.well-known/jwks.json` of any of them verifies (specification 2.2, 8).
import { createHash, createPrivateKey, hkdfSync } from "node:crypto";
import { importJWK, type JWK, SignJWT } from "jose";
import { RECEIPT_TYPE } from "../domain/document-types.ts";
import { RECEIPT_ALGORITHM, RECEIPT_ISSUER, type ReceiptJson } from "../domain/receipt.ts";
import { formatUsd, subUsd } from "../domain/money.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Release } from "../domain/release.ts";
import { printClassCounts } from "../domain/token-classes.ts";
import { DAMAGED, printTime } from "../domain/print.ts";
import { lastTold } from "../ledger/last-told.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { RequestRecord } from "../ledger/records.ts";
import { missingRelease, UnreadableRecord } from "../ledger/unreadable.ts";
import type { TokenCounts } from "../pricing/cost-lines.ts";
import type { ReceiptKey } from "../registry/receipt-keys.ts";
import { readRelease } from "../registry/releases.ts";
import { printGateway, receiptOfRecord } from "./receipt.ts";

export interface ReceiptSigner {
  /** Public keys as a JWK set: the current signing key, then those from before the data key was changed. */
  jwks(): Promise<{ keys: JWK[] }>;
  /** Compact JWS of a request that has ended. Throws for a running one. */
  sign(record: RequestRecord, release: Release): Promise<{ receipt: ReceiptJson; jws: string }>;
}

/**
 * `dataKey`: 32 bytes; the signing key is derived when it is first needed, the same on every gateway that has it. `former`: read
 * once, because former keys change only while no gateway runs.
 */
export function receiptSigner(
  dataKey: Uint8Array,
  former: () => Promise<readonly ReceiptKey[]>,
): ReceiptSigner {
  let key: ReturnType<typeof signingKey> | null = null;
  const made = (): ReturnType<typeof signingKey> => (key ??= signingKey(dataKey));
  let before: readonly ReceiptKey[] | null = null;
  return {
    jwks: async () => {
      before ??= await former();
      return { keys: [(await made()).publicJwk, ...before.map(jwkOf)] };
    },
    sign: async (record, release) => {
      const { kid, privateKey } = await made();
      const receipt = receiptOf(record, release);
      const jws = await new SignJWT({ receipt })
        .setProtectedHeader({ alg: RECEIPT_ALGORITHM, typ: RECEIPT_TYPE, kid })
        .setIssuer(RECEIPT_ISSUER)
        .setSubject(record.requestId)
        .setIssuedAt(Math.floor(Date.parse(receipt.ended_at) / 1000)) // so that the same request signs to the same bytes
        .sign(privateKey);
      return { receipt, jws };
    },
  };
}

export interface ReceiptPorts {
  ledger: Reader;
  receipts: Pick<ReceiptSigner, "sign">;
}

/**
 * The signed receipt of a request, for anyone who may see it. Throws `Refusal` while it runs, `UnreadableRecord` without its
 * release.
 */
export async function signedReceiptOf(
  { ledger, receipts }: ReceiptPorts,
  record: RequestRecord,
): Promise<{ object: "receipt"; id: string; jws: string; receipt: ReceiptJson }> {
  if (record.state === "running")
    throw new Refusal("receipt_not_ready", "This request is still running. Ask again when it has ended.", {
      retryAfterMs: 1000,
    });
  const release = await readRelease(ledger, record.releaseDigest);
  if (release === null) throw missingRelease(record.requestId);
  const { receipt, jws } = await receipts.sign(record, release);
  return { object: "receipt", id: record.requestId, jws, receipt };
}

const jwkOf = ({ kid, x }: ReceiptKey) =>
  ({ kty: "OKP", crv: "Ed25519", x, kid, alg: RECEIPT_ALGORITHM, use: "sig" }) satisfies JWK;

/** RFC 8410: an Ed25519 private key is this prefix and its 32 bytes. */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

/** The public half of the key that signs receipts under this data key, named by its thumbprint (RFC 7638). */
export function receiptKeyOf(dataKey: Uint8Array): ReceiptKey {
  const { x = "" } = privateJwkOf(dataKey);
  const kid = createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest("base64url");
  return { kid, x };
}

function privateJwkOf(dataKey: Uint8Array): JWK {
  const seed = hkdfSync("sha256", dataKey, new Uint8Array(), "tollgate receipt signing key", 32);
  const der = Buffer.concat([PKCS8_HEAD, Buffer.from(seed)]);
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" }).export({ format: "jwk" }) as JWK;
}

async function signingKey(dataKey: Uint8Array) {
  const { kid, x } = receiptKeyOf(dataKey);
  return {
    kid,
    publicJwk: jwkOf({ kid, x }),
    privateKey: await importJWK({ ...privateJwkOf(dataKey), alg: RECEIPT_ALGORITHM }, RECEIPT_ALGORITHM),
  };
}

const countsOf = (usage: TokenCounts): NonNullable<ReceiptJson["usage"]> => ({
  prompt_tokens: usage.promptTokens,
  cached_tokens: usage.cachedTokens ?? 0,
  ...printClassCounts(usage),
  completion_tokens: usage.completionTokens,
});

function receiptOf(record: RequestRecord, release: Release): ReceiptJson {
  const { state, endedAtMs, usage, hold, charge } = record;
  const told = lastTold(record.attempts);
  if (state === "running" || endedAtMs === null) throw new Error(`request ${record.requestId} still runs`);
  const [admittedAt, endedAt] = [printTime(record.admittedAtMs), printTime(endedAtMs)];
  if (admittedAt === DAMAGED || endedAt === DAMAGED)
    throw new UnreadableRecord(`the record of request ${record.requestId}`, "its times are none");
  return {
    request_id: record.requestId,
    org: record.organizationId,
    key: record.keyId,
    state,
    admitted_at: admittedAt,
    ended_at: endedAt,
    release: {
      route: release.route,
      version: release.version,
      digest: release.digest,
      signed_by: release.signedBy,
      pricing: release.publishedPrice,
    },
    hold: {
      usd: formatUsd(hold),
      prompt_tokens_max: record.promptBound,
      output_tokens_max: record.outputBound,
    },
    usage: usage && countsOf(usage),
    ...(told && { told: countsOf(told) }),
    charge: {
      evidence: record.evidence ?? "none",
      usd: formatUsd(charge),
      minimum_applied: record.minimumApplied,
      above_hold_usd: formatUsd(record.variance),
      returned_usd: formatUsd(subUsd(hold, charge)),
    },
    gateway: JSON.parse(printGateway(receiptOfRecord(record, release))) as ReceiptJson["gateway"],
  };
}

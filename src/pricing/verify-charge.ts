// "Verify this charge": checks everything that a charge depends on, from the evidence alone, step by step. It contacts
// nobody and trusts no sum: each stated value is shown beside the computed one. Runs in the browser and on the command line.
import type { EvidenceJson } from "../api/shapes/evidence.ts";
import { RECEIPT_TYPE, RELEASE_TYPE } from "../domain/document-types.ts";
import { formatUsd, nanoUsd, subUsd, ZERO_USD } from "../domain/money.ts";
import { exactPrice, type PublishedPrice } from "../domain/price.ts";
import { isJsonObject } from "../domain/read-value.ts";
import type { ReceiptJson } from "../domain/receipt.ts";
import type { Check, VerifiedStep, VerificationStep } from "../domain/verification.ts";
import { canCheck, openJws, sha256, signedBy, type PublicKey } from "./check-signature.ts";
import { type CostLine, costLines } from "./cost-lines.ts";
import { checkChain, checkEntries } from "./verify-entries.ts";
import { differencesOf, gatewayClaims } from "./receipt-claims.ts";
import { chargeOfReceipt, countsOfReceipt, nanoOf } from "./receipt-price.ts";

/** What the reader asked for and sees elsewhere, which must match: evidence of another request proves another charge. */
export interface AskedCharge {
  request: string;
  /** The charge as a page shows it. */
  charge_usd?: string;
}

/** Returns every step, in order; a later one reports its result whatever an earlier one found. */
export async function verifyCharge(evidence: EvidenceJson, asked: AskedCharge): Promise<VerifiedStep[]> {
  const { receipt } = evidence.receipt;
  const release = releaseOf(evidence.release);
  return [
    step("release", await checkRelease(evidence)),
    step("prices", checkPrices(receipt, release)),
    step("receipt", await checkReceipt(evidence, asked)),
    step("arithmetic", checkArithmetic(receipt, release, asked)),
    step("hold", checkHold(receipt)),
    step("entries", await checkEntries(evidence)),
    step("chain", await checkChain(evidence)),
  ];
}

/** A step holds if all of its checks do; a check that could not be made leaves it open. */
function step(name: VerificationStep, checks: readonly Check[]): VerifiedStep {
  if (checks.some(({ holds }) => holds === false)) return { name, holds: false, checks };
  // How far the head is beyond the known part of the chain is reported, but leaves no doubt.
  const unsure = checks.some(({ holds, what }) => holds === null && what !== "further");
  return { name, holds: unsure ? null : true, checks };
}

const same = (what: Check["what"], stated: string, found: string, of?: string): Check => ({
  what,
  ...(of !== undefined && { of }),
  stated,
  found,
  holds: stated === found,
});
const open = (what: Check["what"], found: string): Check => ({ what, stated: "", found, holds: null });

interface SignedRelease {
  route: string;
  version: number;
  pricing: PublishedPrice;
}

function releaseOf(jws: string): SignedRelease | null {
  const release = openJws(jws)?.payload["release"] as
    | { route?: string; version?: number; pricing?: PublishedPrice & { currency?: string } }
    | undefined;
  if (release?.pricing === undefined) return null;
  const { currency: _, ...pricing } = release.pricing;
  return { route: String(release.route), version: Number(release.version), pricing };
}

async function checkRelease({ release, release_key: key, receipt }: EvidenceJson): Promise<Check[]> {
  const stated = receipt.receipt.release;
  const header = openJws(release)?.header ?? {};
  const digest = canCheck() ? [same("digest", stated.digest, await sha256(release))] : [];
  return [
    same("key", stated.signed_by, String(header["kid"])),
    same("type", RELEASE_TYPE, String(header["typ"])),
    ...digest,
    key === null ? open("signature", "untrusted") : await checkSignature(release, key),
  ];
}

async function checkSignature(jws: string, key: PublicKey): Promise<Check> {
  const good = canCheck() ? await signedBy(jws, key) : null;
  return good === null
    ? open("signature", "unable")
    : { what: "signature", of: key.kid, stated: "good", found: good ? "good" : "bad", holds: good };
}

/** Compares each price on the receipt with the signed one. */
function checkPrices({ release: stated }: ReceiptJson, signed: SignedRelease | null): Check[] {
  if (signed === null) return [{ what: "signature", stated: "good", found: "bad", holds: false }];
  const names = new Set([...Object.keys(stated.pricing), ...Object.keys(signed.pricing)]);
  const text = (pricing: object, name: string): string => {
    const value: unknown = Object.entries(pricing).find(([field]) => field === name)?.[1];
    return typeof value === "string" ? value : (JSON.stringify(value) ?? "–");
  };
  return [
    same("route", stated.route, signed.route),
    same("version", String(stated.version), String(signed.version)),
    ...[...names].map((name) => same("price", text(stated.pricing, name), text(signed.pricing, name), name)),
  ];
}

async function checkReceipt(
  { receipt: { jws, receipt }, receipt_keys, org }: EvidenceJson,
  { request }: AskedCharge,
): Promise<Check[]> {
  const opened = openJws(jws);
  const kid = String(opened?.header["kid"]);
  const key = receipt_keys.find((one) => one.kid === kid);
  const isSigned = sorted(opened?.payload["receipt"]) === sorted(receipt);
  return [
    same("type", RECEIPT_TYPE, String(opened?.header["typ"])),
    key === undefined
      ? { what: "signature", of: kid, stated: "good", found: "bad", holds: false }
      : await checkSignature(jws, key),
    same("request", request, receipt.request_id),
    same("organization", org, receipt.org),
    isSigned
      ? same("contents", "signed", "signed")
      : { what: "contents", stated: "signed", found: "another", holds: false },
  ];
}

/** Prints JSON with names in order, for comparison. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isJsonObject(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? "";

function checkArithmetic(
  receipt: ReceiptJson,
  release: SignedRelease | null,
  { charge_usd: shown }: AskedCharge,
): Check[] {
  const { charge, hold, usage } = receipt;
  const charged = nanoOf(charge.usd);
  const held = nanoOf(hold.usd);
  const onPage = [
    ...(shown === undefined ? [] : [same("shown", shown, charge.usd)]),
    ...checkAnswer(receipt),
  ];
  if (charged === null || held === null || release === null) return [open("charge", "unable"), ...onPage];
  if (charge.evidence === "operator") return [open("charge", "operator"), ...onPage];
  const price = priceOf(release);
  if (price === null) return [open("charge", "unable"), ...onPage];
  const again = chargeOfReceipt(receipt, { price, hold: held });
  const { lines } = (receipt.gateway as { cost?: { lines?: CostLine[] } }).cost ?? {};
  const metered = charge.evidence !== "none" && usage !== null;
  const computed = metered ? costLines(countsOfReceipt(usage), price, again.charge) : [];
  return [
    ...computed.map((line, i): Check => {
      // Receipts of older programs have no lines.
      const said = lines === undefined ? line : lines[i];
      return { ...same("line", lineText(said, line), line.amount_usd, line.class), by: factorsOf(line) };
    }),
    ...(lines ?? [])
      .slice(computed.length)
      .map((line): Check => ({ ...same("line", lineText(line), "–", line.class), by: factorsOf(line) })),
    same("minimum", String(charge.minimum_applied), String(again.minimumApplied)),
    same("above_hold", charge.above_hold_usd, formatUsd(again.variance)),
    same("charge", charge.usd, formatUsd(again.charge)),
    ...onPage,
  ];
}

/** The stated amount of a receipt's line; the whole line if it states another class, count or rate than was computed. */
const lineText = (said: CostLine | undefined, computed?: CostLine): string =>
  said === undefined
    ? "–"
    : computed !== undefined && differencesOf("", said, computed).every(({ what }) => what === ".amount_usd")
      ? said.amount_usd
      : [said.class, factorsOf(said), said.amount_usd].join(" ");

/** Compares the object that the answer carried with the rest of the receipt. */
function checkAnswer(receipt: ReceiptJson): Check[] {
  const wrong = gatewayClaims(receipt).filter(({ stated, found }) => stated !== found);
  if (wrong.length === 0) return [same("answer", "the same", "the same")];
  return wrong.map(({ what, stated, found }) => same("answer", stated, found, what));
}

function priceOf({ pricing }: SignedRelease): ReturnType<typeof exactPrice> | null {
  try {
    return exactPrice(pricing);
  } catch {
    return null; // a newer release than this program knows
  }
}

/** Prints factors, such as `1,204 × $0.50 / 1M`. */
const factorsOf = ({ tokens, calls, usd_per_million, usd_per_thousand }: CostLine): string =>
  usd_per_million === undefined
    ? usd_per_thousand === undefined
      ? ""
      : `${calls ?? 0} × $${usd_per_thousand} / 1,000`
    : `${tokens ?? 0} × $${usd_per_million} / 1 M`;

function checkHold({ charge, hold }: ReceiptJson): Check[] {
  const [charged, held] = [nanoOf(charge.usd), nanoOf(hold.usd)];
  if (charged === null || held === null) return [open("hold", "unable")];
  const back = charged > held ? ZERO_USD : subUsd(held, charged);
  return [
    { what: "hold", stated: charge.usd, found: hold.usd, holds: charged <= held && charged >= nanoUsd(0n) },
    same("returned", charge.returned_usd, formatUsd(back)),
  ];
}

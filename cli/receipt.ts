// `receipt verify` checks a signed receipt without a ledger: it verifies the signature against the gateway's
// published key and recomputes the charge from the receipt's tokens and prices.
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { createLocalJWKSet, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";
import { counted } from "../src/domain/counted.ts";
import { formatUsd, nanoUsd, type NanoUsd, parseUsd, subUsd, ZERO_USD } from "../src/domain/money.ts";
import { type Price, exactPrice } from "../src/domain/price.ts";
import { parseJson } from "../src/domain/parse-json.ts";
import { isJsonObject } from "../src/domain/read-value.ts";
import { Refusal } from "../src/domain/refusals.ts";
import { RECEIPT_TYPE } from "../src/domain/document-types.ts";
import { RECEIPT_ALGORITHM, RECEIPT_ISSUER, type ReceiptJson, receiptSchema } from "../src/domain/receipt.ts";
import type { WireClasses } from "../src/domain/token-classes.ts";
import { messageOf } from "../src/domain/error-message.ts";
import { costLines } from "../src/pricing/cost-lines.ts";
import { chargeOfReceipt, countsOfReceipt } from "../src/pricing/receipt-price.ts";
import { differencesOf, gatewayClaims } from "../src/pricing/receipt-claims.ts";
import { passByProxy } from "./gateway.ts";
import { Problem } from "./problem.ts";
import { type GlobalOptions, report } from "./report.ts";
import { fields } from "./table.ts";

const JWKS_PATH = "/.well-known/jwks.json";

interface VerifyOptions extends GlobalOptions {
  jwks?: string;
}

export function addReceipt(program: Command): void {
  program
    .command("receipt")
    .description("signed receipts of requests")
    .command("verify <file>")
    .description(
      "verify a receipt: its signature, and its charge recomputed (FILE: the answer of /v1/receipts, or the JWS)",
    )
    .option("--jwks <file|url>", `the gateway's public keys (else ${JWKS_PATH} of --url or TOLLGATE_URL)`)
    .action((file: string, _: object, command: Command) =>
      report(command, async () => {
        const { jws, beside } = contentOf(read(file), file);
        const keys = await readJwks(command.optsWithGlobals<VerifyOptions>());
        const { receipt, signed } = await verified(jws, keys, file);
        const wrong = [...unsignedOf(beside, signed), ...contradictionsOf(receipt)];
        const ok = wrong.length === 0;
        const json = JSON.stringify({ ok, contradictions: wrong, receipt });
        return { json, text: describe(receipt, wrong), exitCode: ok ? 0 : 1 };
      }),
    );
}

/**
 * The content of the file: the JWS itself, or the gateway's answer, which repeats the signed content for people
 * beside its `jws`.
 */
interface Content {
  jws: string;
  beside: { id?: unknown; receipt?: unknown };
}

function contentOf(text: string, file: string): Content {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{")) return { jws: trimmed, beside: {} };
  const answer = answerOf(trimmed, file);
  if (isJsonObject(answer) && typeof answer["jws"] === "string")
    return { jws: answer["jws"], beside: answer };
  throw noReceipt(file);
}

/** Parses as strictly as the gateway does: with a duplicate key, people would see one value and a program the other. */
function answerOf(text: string, file: string): unknown {
  try {
    return parseJson(new TextEncoder().encode(text));
  } catch (error) {
    throw noReceipt(file, error instanceof Refusal ? error.message.replace(/^.*?: /, " ") : "");
  }
}

const noReceipt = (file: string, reason = ""): Problem =>
  new Problem(
    `${file} holds no receipt.${reason}`,
    "Save the response of GET /v1/receipts/{request_id} in it, unchanged.",
  );

/** What the file says outside the signature and the signed content does not confirm: readers would believe it. */
function unsignedOf({ id, receipt }: Content["beside"], signed: SignedReceipt): string[] {
  const wrong = [
    ...(id === undefined ? [] : differencesOf("id", id, signed.request_id)),
    ...(receipt === undefined ? [] : differencesOf("receipt", receipt, signed)),
  ];
  return wrong.map(
    ({ what, stated, found }) => `${what}: the file says ${stated}, the signed text says ${found}`,
  );
}

async function readJwks({ jwks, url = process.env["TOLLGATE_URL"] }: VerifyOptions): Promise<JSONWebKeySet> {
  const from =
    jwks ?? (url === undefined ? null : `${url.replace(/\/+$/, "").replace(/\/v1$/, "")}${JWKS_PATH}`);
  if (from === null)
    throw new Problem(
      "No public keys to verify with.",
      `Give --jwks with a file or address: curl GATEWAY${JWKS_PATH} > jwks.json once, and receipts verify offline.`,
    );
  try {
    const text = /^https?:/.test(from) ? await fetched(from) : read(from);
    const set = JSON.parse(text) as JSONWebKeySet;
    if (Array.isArray(set.keys)) return set;
  } catch (error) {
    if (error instanceof Problem) throw error;
  }
  throw new Problem(`${from} is not a JWK set.`, `The gateway serves its own at ${JWKS_PATH}.`);
}

async function fetched(url: string): Promise<string> {
  passByProxy(new URL(url));
  const response = await fetch(url).catch((error: unknown) => {
    throw new Problem(`${url} cannot be reached: ${String(error)}`, "Give --jwks a file to verify offline.");
  });
  return response.text();
}

/** The receipt as signed; a newer gateway may have fields that this program does not know. */
type SignedReceipt = { request_id?: unknown };

async function verified(
  jws: string,
  jwks: JSONWebKeySet,
  file: string,
): Promise<{ receipt: ReceiptJson; signed: SignedReceipt }> {
  const options = { algorithms: [RECEIPT_ALGORITHM], typ: RECEIPT_TYPE, issuer: RECEIPT_ISSUER };
  let payload: JWTPayload;
  try {
    ({ payload } = await jwtVerify(jws, createLocalJWKSet(jwks), options));
  } catch (error) {
    const reason = messageOf(error);
    throw new Problem(
      `${file} is not a receipt of this gateway: ${reason}.`,
      "Check that the file was not changed, and that the keys belong to the gateway that signed it.",
    );
  }
  const parsed = receiptSchema.safeParse(payload["receipt"]);
  if (parsed.success) return { receipt: parsed.data, signed: payload["receipt"] as SignedReceipt };
  throw new Problem(
    `${file} is signed, but is not a receipt that this program knows.`,
    "Use a newer program.",
  );
}

type SaidAndComputed = [what: string, said: string, computed: string];

/** What does not follow from the receipt's own figures; empty for an honest receipt. */
function contradictionsOf(receipt: ReceiptJson): string[] {
  const { charge, hold } = receipt;
  const held = amount(hold.usd);
  const charged = amount(charge.usd);
  const byHand = charge.evidence === "operator";
  if (byHand && charged > held) return ["charge: the receipt says more than was held"];
  const again = byHand
    ? { charge: charged, variance: ZERO_USD, minimumApplied: false }
    : chargeOfReceipt(receipt, { price: priceOfReceipt(receipt), hold: held });
  const { lines } = (receipt.gateway as { cost?: { lines?: unknown } }).cost ?? {};
  const claims: SaidAndComputed[] = [
    ["charge", charge.usd, formatUsd(again.charge)],
    ["above the hold", charge.above_hold_usd, formatUsd(again.variance)],
    ["minimum applied", String(charge.minimum_applied), String(again.minimumApplied)],
    ["returned", charge.returned_usd, charged > held ? "nothing" : formatUsd(subUsd(held, charged))],
    ...gatewayClaims(receipt).map(({ what, stated, found }): SaidAndComputed => [what, stated, found]),
  ];
  // Receipts of older programs have no lines, and only metered requests have any.
  if (
    lines !== undefined &&
    (charge.evidence === "provider_usage" || charge.evidence === "delivered_tokens")
  ) {
    const computed = costLines(countsOfReceipt(receipt.usage), priceOfReceipt(receipt), charged);
    claims.push(["gateway.cost.lines", JSON.stringify(lines), JSON.stringify(computed)]);
  }
  return claims
    .filter(([, said, computed]) => said !== computed)
    .map(([what, said, computed]) => `${what}: the receipt says ${said}, its figures give ${computed}`);
}

function priceOfReceipt({ release }: ReceiptJson): Price {
  try {
    return exactPrice(release.pricing);
  } catch (error) {
    throw new Problem(`The prices of the receipt: ${String(error)}.`, "Use a newer program.");
  }
}

const amount = (text: string): NanoUsd => {
  const parsed = parseUsd(text);
  if (parsed === null) throw new Problem(`"${text}" is not a dollar amount.`, "Use a newer program.");
  return nanoUsd(parsed);
};

function describe({ usage, charge, hold, release, ...receipt }: ReceiptJson, wrong: string[]): string {
  const { pricing } = release;
  const verdict =
    wrong.length === 0 ? "The signature is good and the charge follows from the figures." : wrong.join("\n");
  return `${fields({
    request: receipt.request_id,
    org: receipt.org,
    state: receipt.state,
    ended: receipt.ended_at,
    release: `${release.route} version ${release.version}`,
    held: `$${hold.usd} for up to ${hold.prompt_tokens_max} + ${counted(hold.output_tokens_max, "token")}`,
    input:
      usage &&
      `${counted(usage.prompt_tokens, "token")} (${usage.cached_tokens} cached) at $${pricing.input_per_million} per million`,
    classes: usage && classesOf(usage),
    output:
      usage && `${counted(usage.completion_tokens, "token")} at $${pricing.output_per_million} per million`,
    minimum: `$${pricing.request_minimum}${charge.minimum_applied ? ", applied" : ""}`,
    charged: `$${charge.usd} (${charge.evidence})`,
    returned: `$${charge.returned_usd}`,
  })}\n\n${verdict}`;
}

const CLASSES: Record<keyof WireClasses, string> = {
  cache_write_tokens: "written to a cache",
  cache_write_1h_tokens: "of them for an hour",
  audio_input_tokens: "audio input",
  image_input_tokens: "image input",
  audio_output_tokens: "audio output",
  calls: "paid calls",
  service_tier: "tier of service",
};

/** Null for a receipt without any, as most are. */
function classesOf(usage: WireClasses): string | null {
  const told = (Object.keys(CLASSES) as (keyof WireClasses)[]).flatMap((name) =>
    usage[name] === undefined ? [] : [`${usage[name]} ${CLASSES[name]}`],
  );
  return told.length === 0 ? null : told.join(", ");
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw new Problem(`${path} cannot be read.`, "Check the file's name and its permissions.");
  }
}

// `request verify` runs the checks of the dashboard's "Verify this charge" on this machine, with the user's own copy
// of the keys if given, so that nothing about a charge rests on the gateway's word.
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import type { EvidenceJson } from "../src/api/shapes/evidence.ts";
import {
  CHECK_WORDS,
  type Check,
  FOUND_WORDS,
  STEP_WORDS,
  type VerifiedStep,
} from "../src/domain/verification.ts";
import { messageOf } from "../src/domain/error-message.ts";
import { verifyCharge } from "../src/pricing/verify-charge.ts";
import { followChain } from "../src/pricing/verify-entries.ts";
import type { Gateway } from "./gateway.ts";
import { Problem } from "./problem.ts";
import { report } from "./report.ts";

interface VerifyOptions {
  trust?: string;
  jwks?: string;
  toHead?: true;
}
type PublicKey = EvidenceJson["receipt_keys"][number];

export function addVerify(request: Command): void {
  request
    .command("verify <request>")
    .description(
      "verify a charge locally: signatures, prices, arithmetic, hold, ledger entries and their chain",
    )
    .option("--trust <file>", "the release key you trust (JWK), instead of the gateway's")
    .option("--jwks <file>", "receipt keys that you saved, instead of the gateway's")
    .option("--to-head", "follow the chain of entries to its head, however long it is")
    .action((id: string, { trust, jwks, toHead }: VerifyOptions, command: Command) =>
      report(command, async (context) => {
        const gateway = await context.gateway();
        const { value } = await gateway.call("GET /admin/v1/requests/{id}/evidence", { id });
        const evidence: EvidenceJson = {
          ...value,
          ...(trust !== undefined && { release_key: ownKey(trust, value) }),
          ...(jwks !== undefined && { receipt_keys: keysOf(jwks) }),
        };
        const steps = await verifyCharge(evidence, { request: id });
        if (toHead === true) steps.push(await stepToHead(evidence, gateway));
        const ok = steps.every(({ holds }) => holds !== false);
        const json = JSON.stringify({ ok, request: id, steps });
        return { json, text: steps.map(describe).join("\n"), exitCode: ok ? 0 : 1 };
      }),
    );
}

async function stepToHead(evidence: EvidenceJson, gateway: Gateway): Promise<VerifiedStep> {
  const ask = async (from: number): Promise<EvidenceJson> => {
    const asked = { id: evidence.request, chain_from: from };
    return (await gateway.call("GET /admin/v1/requests/{id}/evidence", asked)).value;
  };
  const check = await followChain(evidence, ask, () => {});
  return { name: "chain", holds: check.holds, checks: [check] };
}

/** The key in a file, for the signer that the release names. */
function ownKey(file: string, { receipt }: EvidenceJson): PublicKey {
  const [key] = keysOf(file);
  if (key === undefined)
    throw new Problem(`${file} holds no key.`, "Name the file that release keygen wrote.");
  return { ...key, kid: key.kid === "" ? receipt.receipt.release.signed_by : key.kid };
}

/** A JWK or a JWK set; only the public half is read. */
function keysOf(file: string): PublicKey[] {
  try {
    const read = JSON.parse(readFileSync(file, "utf8")) as Partial<PublicKey> & {
      keys?: Partial<PublicKey>[];
    };
    return (read.keys ?? [read]).map(({ kid = "", x = "" }) => ({ kid, kty: "OKP", crv: "Ed25519", x }));
  } catch (error) {
    const reason = messageOf(error);
    throw new Problem(`${file} cannot be read: ${reason}`, "Name a file with a JWK, or with a JWK set.");
  }
}

/** Shown even for steps that pass. */
const SHOWN: ReadonlySet<Check["what"]> = new Set(["line", "further", "head"]);

const sign = (holds: boolean | null): string => (holds === null ? "–" : holds ? "✓" : "✗");

function describe({ name, holds, checks }: VerifiedStep): string {
  const { title, broken } = STEP_WORDS[name];
  const lines = checks.filter((check) => holds !== true || SHOWN.has(check.what));
  return [
    `${sign(holds)} ${title}`,
    ...lines.map((check) => `    ${sign(check.holds)} ${printCheck(check)}`),
    ...(holds === false ? [`  → ${broken}`] : []),
  ].join("\n");
}

function printCheck({ what, of, by, stated, found, holds }: Check): string {
  const name = [CHECK_WORDS[what], of, by].filter((one) => one !== undefined && one !== "").join(" ");
  const told = FOUND_WORDS[found] ?? found;
  return holds === false ? `${name}: stated ${stated}, found ${told}` : `${name}: ${told}`;
}

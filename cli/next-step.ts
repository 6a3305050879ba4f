// The next step after a refusal by the operator API.
import type { ErrorJson } from "../src/api/shapes/records.ts";

const LISTS: Record<string, string> = {
  org: "./tollgate org list",
  key: "./tollgate keys list --org ORG",
  model: "./tollgate route list",
  route: "./tollgate route list",
  member: "./tollgate members list --org ORG",
  invitation: "./tollgate invitations list --org ORG",
  rule: "./tollgate alerts list --org ORG",
  channel: "./tollgate channels list --org ORG",
  delivery: "./tollgate alerts deliveries --org ORG",
  channels: "./tollgate channels list --org ORG",
};

/** The lists whose answers carry the versions that changes name. */
const LISTED_VERSIONS = "./tollgate keys list, limits list, members list or alerts list, --org ORG --json";

/** By the check that failed. */
const RELEASES: Record<NonNullable<ErrorJson["error"]["step"]> | "manifest", string> = {
  signature:
    "Sign it with a key of the gateway's trust.release_keys; or add the signer's public key there, and restart the gateway.",
  manifest: "Correct the manifest, sign it again, and publish it.",
  version:
    "Raise the version in the manifest, sign it again, and publish it; the same applies when you go back to older terms.",
  expiry: "Sign it again with a longer --expires-in, and publish it.",
};

/** One sentence that tells the operator what to do next. `options` are those of the command that was typed. */
export function nextStep(
  { code, param, step }: Pick<ErrorJson["error"], "code" | "param" | "step">,
  options: readonly string[] = [],
): string {
  if (
    code === "invalid_api_key" ||
    code === "api_key_revoked" ||
    code === "api_key_paused" ||
    code === "api_key_expired"
  )
    return "Log in with ./tollgate login, give a management key with --token, or use the operator.json of the running gateway's data directory.";
  if (code === "scope_not_permitted")
    return "Use a management key (gw_mk_…), made on Operators → People of the dashboard or by ./tollgate login; API keys only buy completions.";
  if (code === "not_found" && param !== null && param in LISTS) return `List what exists: ${LISTS[param]}`;
  if (code === "not_found") return "Check the id; ids are shown by the list commands and in x-request-id.";
  if (code === "second_person_required")
    return "Let another operator decide: at Operators → Entitlements of the dashboard, or after ./tollgate login as themselves. ./tollgate entitlement list shows who asked.";
  if (code === "conflict" || (code === "changed_meanwhile" && param === null))
    return "Check the current state first, then decide again.";
  if (code === "changed_meanwhile")
    return `See the current state with ${LISTED_VERSIONS}, and give its version if you still want the change.`;
  // A wrong field is found in the signature step.
  if (code === "release_refused")
    return RELEASES[step === undefined || (step === "signature" && param !== null) ? "manifest" : step];
  if (code === "overloaded")
    return "The gateway is busy, draining or cannot reach its store: try again in a few seconds.";
  if (code === "internal_error") return "Look for the request id in the gateway's log.";
  // An unknown URL or parameter means that this program's version of the API is not the gateway's.
  if (code === "unknown_url" || code === "unknown_parameter") {
    const unknown = param === null ? "this command" : param;
    return `The gateway has another version than this command line and does not know ${unknown}. Use the command line of its version, or upgrade the gateway.`;
  }
  return param === null
    ? "See ./tollgate help and docs/cli.md."
    : `Correct ${typedAs(param, options)} and run the command again.`;
}

/** Options that are called otherwise than the field of the API that they set. */
const OTHERWISE: Readonly<Record<string, string>> = {
  allowed_models: "--models",
  max_output_tokens: "--max-output",
  expires_at: "--expires",
  overlap_hours: "--overlap",
  charge_usd: "--settle",
  version: "--if-version",
};

/** The option that sets this field of the API, as it is typed; the field's own name if there is none. */
function typedAs(field: string, options: readonly string[]): string {
  const named = [
    OTHERWISE[field],
    `--${field.replaceAll("_", "-")}`,
    ...(field.endsWith("_usd") ? ["--usd"] : []),
  ];
  return named.find((option) => option !== undefined && options.includes(option)) ?? field;
}

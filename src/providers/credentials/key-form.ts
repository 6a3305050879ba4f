// Recognizes the vendor of a key by an unambiguous prefix. Without this check, a key of the wrong vendor would be
// rejected with 401 only when a customer calls, and would show one vendor the secret of another.

const FORMS: readonly [prefix: string, owner: string][] = [
  ["sk-ant-", "Anthropic"],
  ["sk-or-", "OpenRouter"],
  ["sk-proj-", "OpenAI"],
  ["sk-svcacct-", "OpenAI"],
  ["gsk_", "Groq"],
  ["xai-", "xAI"],
  ["pplx-", "Perplexity"],
  ["csk-", "Cerebras"],
  ["fw_", "Fireworks"],
  ["tgp_v1_", "Together"],
  ["AIza", "Google"],
  ["AKIA", "AWS (an access key id)"],
  ["ASIA", "AWS (an access key id)"],
  ["ABSK", "Amazon Bedrock"],
  ["bedrock-api-key-", "Amazon Bedrock"],
  ["gw_", "Tollgate itself"],
];

/** Returns the vendor that a key certainly belongs to, if that is not `owner`; else null. */
export function foreignOwner(key: string, owner: string): string | null {
  const found = FORMS.find(([prefix]) => key.startsWith(prefix))?.[1];
  return found === undefined || found === owner ? null : found;
}

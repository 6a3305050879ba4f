// Whose key a text is, where its first characters say so beyond doubt. A key at the wrong vendor is refused by its 401 only
// when a customer calls, and shows one vendor the secret of another.

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

/** The vendor that a key is certainly of, where that is not `owner`; null when nothing speaks against it. */
export function foreignOwner(key: string, owner: string): string | null {
  const found = FORMS.find(([prefix]) => key.startsWith(prefix))?.[1];
  return found === undefined || found === owner ? null : found;
}
